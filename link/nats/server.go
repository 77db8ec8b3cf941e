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
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"posta.dev/posta/topology"
)

// readyTime is what a server may take to read its streams back.
const readyTime = time.Minute

// ErrNotEmbedded is returned by [Serve] when the topology leaves the server to somebody else.
var ErrNotEmbedded = errors.New("[nats] has embedded = false: its server is somebody else's to run")

// Serve runs the server of a topology with nats.embedded until ctx ends. It calls ready, unless that is nil, when the server takes
// connections: before that it reads its streams back. A server that stops working, such as one whose disk is full, is an error: who
// keeps it alive starts it again, and nothing is lost meanwhile.
func Serve(ctx context.Context, t *topology.Topology, log *slog.Logger, ready func()) error {
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
	fatal := make(chan string, 1)
	s.SetLoggerV2(quiet{log, fatal}, false, false, false)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if err := listening(ctx, s, fatal); err != nil {
		return fmt.Errorf("start NATS at %s: %w", topology.RedactURL(t.NATS.URL), err)
	}
	if ctx.Err() != nil {
		return nil
	}
	log.Info("NATS is running", "url", topology.RedactURL(t.NATS.URL), "dir", o.StoreDir, "sync", t.NATS.Sync)
	if ready != nil {
		ready()
	}
	return watch(ctx, s, fatal)
}

// listening waits until the server takes connections, or has said why it does not.
func listening(ctx context.Context, s *server.Server, fatal <-chan string) error {
	for end := time.Now().Add(readyTime); ; {
		if s.ReadyForConnections(100 * time.Millisecond) {
			return nil
		}
		select {
		case why := <-fatal:
			return fmt.Errorf("%s: is the address taken, or another machine's? See url in [nats]", why)
		case <-ctx.Done():
			return nil
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("it does not listen after %v", readyTime)
		}
	}
}

// lookEvery is how often a running server is asked whether it still stores messages.
const lookEvery = 200 * time.Millisecond

// watch returns when ctx ends, or with an error when the server is no use any more. Without room on its disk it switches JetStream off and
// goes on without; only a new start switches it on again.
func watch(ctx context.Context, s *server.Server, fatal <-chan string) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case why := <-fatal:
			return fmt.Errorf("NATS has stopped: %s", why)
		case <-tick.C:
			if !s.JetStreamEnabled() {
				return errNoStreams
			}
		}
	}
}

var errNoStreams = errors.New("NATS has switched JetStream off, as it does when its disk is full: make room, and start it again")

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
		JetStream: true, StoreDir: t.ServerDir(), SyncAlways: t.NATS.Sync == topology.SyncAlways,
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

// maxMessage is what a server must accept: the largest frame, its header, and what a message adds. It is less than a file of JetStream can hold:
// [topology.MaxNATSFrame]. What the server calls its maximum, 8 MiB, is where it begins to warn.
func maxMessage(t *topology.Topology) int {
	return max(int(t.Limits.Frame), int(t.NATS.Batch)) + 64<<10
}

// quiet passes on what people need: warnings, errors, and what ends the server.
type quiet struct {
	log   *slog.Logger
	fatal chan<- string // has room for one; the first is the reason
}

func (q quiet) Noticef(string, ...any)       {}
func (q quiet) Debugf(string, ...any)        {}
func (q quiet) Tracef(string, ...any)        {}
func (q quiet) Errorf(f string, args ...any) { q.log.Error("NATS: " + fmt.Sprintf(f, args...)) }

func (q quiet) Fatalf(f string, args ...any) {
	select {
	case q.fatal <- fmt.Sprintf(f, args...):
	default:
		q.Errorf(f, args...)
	}
}

// Warnf leaves out that large messages are discouraged: limits.frame is chosen, and would be warned of at every start.
func (q quiet) Warnf(f string, args ...any) {
	if !strings.Contains(f, "Maximum payloads over") {
		q.log.Warn("NATS: " + fmt.Sprintf(f, args...))
	}
}
