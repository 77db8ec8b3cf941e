package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"posta/topology"
)

// readyTime is what a server may take to read its streams back.
const readyTime = time.Minute

// ErrNotEmbedded is returned by [Serve] when the topology leaves the server to somebody else.
var ErrNotEmbedded = errors.New("[nats] has embedded = false: its server is somebody else's to run")

// Serve runs the server of a topology with nats.embedded until ctx ends.
func Serve(ctx context.Context, t *topology.Topology, log *slog.Logger) error {
	if t.Transport != topology.ViaNATS || !t.NATS.Embedded {
		return fmt.Errorf("%s: %w", t.File, ErrNotEmbedded)
	}
	o, err := serverOptions(t)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.StoreDir, 0o755); err != nil {
		return fmt.Errorf("make the directory of NATS: %w", err)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return fmt.Errorf("start NATS: %w", err)
	}
	s.SetLoggerV2(quiet{log}, false, false, false)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if !s.ReadyForConnections(readyTime) {
		return fmt.Errorf("start NATS at %s: it does not listen; is the address taken? See url in [nats]", topology.RedactURL(t.NATS.URL))
	}
	log.Info("NATS is running", "url", topology.RedactURL(t.NATS.URL), "dir", o.StoreDir, "sync", t.NATS.Sync)
	<-ctx.Done()
	return nil
}

func serverOptions(t *topology.Topology) (*server.Options, error) {
	u, err := url.Parse(t.NATS.URL)
	if err != nil {
		return nil, fmt.Errorf("url of [nats]: %w", err)
	}
	port := 4222
	if p := u.Port(); p != "" {
		if port, err = strconv.Atoi(p); err != nil {
			return nil, fmt.Errorf("url of [nats]: port: %w", err)
		}
	}
	o := &server.Options{
		ServerName: "posta-" + t.Name, Host: u.Hostname(), Port: port, NoSigs: true, DontListen: false,
		JetStream: true, StoreDir: DataDir(t), SyncAlways: t.NATS.Sync == topology.SyncAlways,
		JetStreamMaxStore: math.MaxInt64, JetStreamMaxMemory: 64 << 20,
		MaxPayload: int32(maxMessage(t)), MaxPending: 64<<20 + 2*int64(maxMessage(t)),
	}
	if o.SyncAlways {
		o.SyncInterval = 2 * time.Minute // of files that are not written to any more
	}
	if user := u.User; user != nil {
		o.Username = user.Username()
		o.Password, _ = user.Password()
	}
	if net.ParseIP(o.Host) == nil && o.Host == "localhost" {
		o.Host = "127.0.0.1"
	}
	return o, nil
}

// DataDir is where the embedded server has its streams.
func DataDir(t *topology.Topology) string {
	if filepath.IsAbs(t.NATS.Data) {
		return t.NATS.Data
	}
	return filepath.Join(t.DataDir, t.NATS.Data)
}

// maxMessage is what a server must accept: the largest frame, its header, and what a message adds.
func maxMessage(t *topology.Topology) int {
	return min(max(int(t.Limits.Frame), int(t.NATS.Batch))+64<<10, maxPayload)
}

// maxPayload is what a file of JetStream can hold: it takes a record of more than 32 MiB for damage. What the server calls its maximum,
// 8 MiB, is where it begins to warn.
const maxPayload = 31 << 20

// quiet passes on what people need: warnings, errors, and what ends the server.
type quiet struct{ log *slog.Logger }

func (q quiet) Noticef(string, ...any)       {}
func (q quiet) Debugf(string, ...any)        {}
func (q quiet) Tracef(string, ...any)        {}
func (q quiet) Errorf(f string, args ...any) { q.log.Error("NATS: " + fmt.Sprintf(f, args...)) }
func (q quiet) Fatalf(f string, args ...any) { q.log.Error("NATS: " + fmt.Sprintf(f, args...)) }

// Warnf leaves out that large messages are discouraged: limits.frame is chosen, and would be warned of at every start.
func (q quiet) Warnf(f string, args ...any) {
	if !strings.Contains(f, "Maximum payloads over") {
		q.log.Warn("NATS: " + fmt.Sprintf(f, args...))
	}
}
