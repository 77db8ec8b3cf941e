package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// main runs the server until a signal, or with -tied until its standard input ends: a killed parent leaves no server behind.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

const (
	readyTime       = 5 * time.Minute // for a server to read its streams from disk
	syncUnusedFiles = 2 * time.Minute // with -sync always: the interval for files that are no longer written to
)

// settings are the values of the flags.
type settings struct {
	server.Options
	ready string // name of a file, or ""
	tied  bool
}

// run runs the server until ctx ends.
func run(ctx context.Context, args []string, in io.Reader, errs io.Writer) error {
	o, err := parse(args, errs)
	if err != nil {
		return err
	}
	if o.tied {
		tied, end := context.WithCancel(ctx)
		defer end()
		go func() { // it is not awaited, because a read of standard input ends only with the process
			_, _ = io.Copy(io.Discard, in)
			end()
		}()
		ctx = tied
	}
	if err := os.MkdirAll(o.StoreDir, 0o755); err != nil {
		return err
	}
	s, err := server.NewServer(&o.Options)
	if err != nil {
		return err
	}
	fatal := make(chan string, 1)
	s.SetLoggerV2(logger{errs, fatal}, false, false, false)
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	if err := listening(ctx, s, fatal); err != nil || ctx.Err() != nil {
		return err
	}
	if err := o.tell(s.ClientURL()); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case why := <-fatal:
		return fmt.Errorf("the server has stopped: %s", why)
	}
}

// tell writes the file of -ready. It renames the file into place, so that nobody reads half of it.
func (o *settings) tell(url string) error {
	if o.ready == "" {
		return nil
	}
	text, err := json.Marshal(map[string]string{"url": url, "version": server.VERSION})
	if err == nil {
		err = os.WriteFile(o.ready+".new", text, 0o644)
	}
	if err == nil {
		err = os.Rename(o.ready+".new", o.ready)
	}
	return err
}

// largestMessage is the largest message that JetStream's files can hold: 32 MiB including their overhead.
const largestMessage = 30<<20 + 64<<10

func parse(args []string, errs io.Writer) (*settings, error) {
	flags := flag.NewFlagSet("nats", flag.ContinueOnError)
	flags.SetOutput(errs)
	dir := flags.String("dir", "", "the directory of JetStream's files")
	address := flags.String("address", "127.0.0.1:0", "HOST:PORT to listen on; port 0 is a free one")
	sync := flags.String("sync", "default", `"always" for an fsync before each answer, "default" for one every two minutes`)
	largest := flags.Int("max-payload", largestMessage, "bytes of the largest message")
	jetStream := flags.Bool("jetstream", true, "store messages; false for a server without streams")
	ready := flags.String("ready", "", "a FILE for the URL and the version, as JSON, once the server takes connections")
	tied := flags.Bool("tied", false, "end when standard input ends")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	host, text, err := net.SplitHostPort(*address)
	if err != nil {
		return nil, fmt.Errorf("-address: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("-address: port: %w", err)
	}
	if *dir == "" || *sync != "always" && *sync != "default" || flags.NArg() > 0 {
		flags.Usage()
		return nil, errors.New(`give -dir; -sync is "default" or "always"`)
	}
	o := &settings{ready: *ready, tied: *tied, Options: server.Options{
		Host: host, Port: int(port), NoSigs: true, JetStream: *jetStream, StoreDir: *dir, SyncAlways: *sync == "always",
		JetStreamMaxStore: math.MaxInt64, JetStreamMaxMemory: 64 << 20,
		MaxPayload: int32(*largest), MaxPending: 64<<20 + 2*int64(*largest),
	}}
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if o.SyncAlways {
		o.SyncInterval = syncUnusedFiles
	}
	return o, nil
}

// listening returns when the server accepts connections or ctx has ended, or returns the server's fatal error.
func listening(ctx context.Context, s *server.Server, fatal <-chan string) error {
	for end := time.Now().Add(readyTime); time.Now().Before(end); {
		if s.ReadyForConnections(100 * time.Millisecond) {
			return nil
		}
		select {
		case why := <-fatal:
			return fmt.Errorf("the server does not start: %s", why)
		case <-ctx.Done():
			return nil
		default:
		}
	}
	return fmt.Errorf("the server does not listen after %v", readyTime)
}

// logger passes on warnings, errors, and the first reason for the server's end.
type logger struct {
	out   io.Writer
	fatal chan<- string // has a capacity of one
}

func (l logger) Noticef(string, ...any)       {}
func (l logger) Debugf(string, ...any)        {}
func (l logger) Tracef(string, ...any)        {}
func (l logger) Warnf(f string, args ...any)  { fmt.Fprintf(l.out, f+"\n", args...) }
func (l logger) Errorf(f string, args ...any) { fmt.Fprintf(l.out, f+"\n", args...) }

func (l logger) Fatalf(f string, args ...any) {
	select {
	case l.fatal <- fmt.Sprintf(f, args...):
	default:
		l.Errorf(f, args...)
	}
}
