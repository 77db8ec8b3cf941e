package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"posta.dev/posta/bench/brokers"
	"posta.dev/posta/link/nats"
	"posta.dev/posta/topology"
)

// carrier is a broker between the nodes of a contestant. Each round of each contestant has a broker of its own, with data of its own
// below the round's directory: none finds the last one's queues, or its files in the page cache. Its start is not measured,
// as brokers are there already where people have them; what it does from the nodes' start on is.
type carrier struct {
	settings map[string]string // of the topology, with the kind of queue or sync
	start    func(ctx context.Context, c *Config, label, dir string, v topology.Variant) (server, map[string]string, error)
	settle   time.Duration // that it must have been used before it may be killed
}

// server is a broker that runs. Its methods are called by one goroutine.
type server interface {
	Start(context.Context) error // again after Kill, on the same data; returns when it answers
	Kill()
	PIDs() []int
	Close() error
}

// brokerNames are the contestants' that frames cross a broker for, in the order of the table.
var brokerNames = []string{"rabbitmq-classic", "rabbitmq-quorum", "nats", "nats-sync-always"}

// carrierOf is the broker of one of brokerNames.
func carrierOf(name string) *carrier {
	switch name {
	case "rabbitmq-classic":
		return &carrier{settings: map[string]string{"rabbitmq.queue": "classic"}, start: startRabbitMQ}
	case "rabbitmq-quorum":
		// RabbitMQ 3.10 loses a quorum queue for good when it is killed in the second in which the queue was declared.
		return &carrier{settings: map[string]string{"rabbitmq.queue": topology.QuorumQueue}, start: startRabbitMQ, settle: 3 * time.Second}
	case "nats":
		return &carrier{settings: map[string]string{"nats.sync": "default"}, start: startNATS}
	case "nats-sync-always":
		return &carrier{settings: map[string]string{"nats.sync": topology.SyncAlways}, start: startNATS}
	}
	return nil
}

// serve starts the broker, and adds to the settings what leads to it.
func (k *carrier) serve(ctx context.Context, c *Config, label, dir string, v topology.Variant) (server, error) {
	for key, value := range k.settings {
		v.Settings[key] = value
	}
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	b, more, err := k.start(ctx, c, label, dir, v)
	for key, value := range more {
		v.Settings[key] = value
	}
	return b, err
}

// brokerTime is for a broker to start: RabbitMQ takes five seconds of one core.
const brokerTime = 2 * time.Minute

func startRabbitMQ(ctx context.Context, c *Config, _, dir string, _ topology.Variant) (server, map[string]string, error) {
	b, err := brokers.StartRabbitMQ(ctx, filepath.Join(dir, "rabbitmq"))
	if err != nil {
		return nil, nil, err
	}
	c.version("rabbitmq", b.Version())
	return b, map[string]string{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": b.URL()}, nil
}

// rabbitAbsent says why the contestants over RabbitMQ cannot take part.
func rabbitAbsent(context.Context, *Config) string {
	if err := brokers.FindRabbitMQ(); err != nil {
		return err.Error()
	}
	return ""
}

// natsServer is the embedded NATS as a process of its own, as posta nats runs it.
type natsServer struct {
	c             *Config
	label         string
	file, address string
	cmd           *exec.Cmd // nil while it is dead
}

func startNATS(ctx context.Context, c *Config, label, dir string, v topology.Variant) (server, map[string]string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	s := &natsServer{c: c, label: label, file: filepath.Join(dir, "nats.toml"), address: l.Addr().String()}
	_ = l.Close() // somebody may take it before the server does; then the server says so
	settings := map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": "nats://" + s.address, "nats.embedded": "true"}
	for key, value := range settings {
		v.Settings[key] = value
	}
	text, err := topology.Generate(v)
	if err == nil {
		err = os.WriteFile(s.file, []byte(text), 0o600)
	}
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	c.version("nats-server", natsserver.VERSION)
	return s, settings, nil
}

// Start implements server.
func (s *natsServer) Start(ctx context.Context) error {
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := s.c.command(s.label+"-broker", "nats", s.file)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start NATS: %w", err)
	}
	s.cmd = cmd
	for {
		if conn, err := net.Dial("tcp", s.address); err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			s.Kill()
			said, _ := os.ReadFile(s.log()) // it may have said nothing
			return fmt.Errorf("start NATS: %w: %s", context.Cause(ctx), said)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *natsServer) log() string { return s.file + ".log" }

// Kill implements server.
func (s *natsServer) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()         // that it was killed
	s.cmd = nil
}

// PIDs implements server.
func (s *natsServer) PIDs() []int {
	if s.cmd == nil {
		return nil
	}
	return []int{s.cmd.Process.Pid}
}

// Close implements server. Its data goes with the round's directory.
func (s *natsServer) Close() error { s.Kill(); return nil }

// runNATS is the server's process.
func runNATS(ctx context.Context, file string) error {
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	return nats.Serve(ctx, t, stderrLog(), nil)
}

// usage is what processes have cost until now.
type usage struct {
	cpu           time.Duration
	peak, written int64 // bytes
	held          []memory
}

func usageOf(pids []int) (u usage) {
	for _, pid := range pids {
		id := strconv.Itoa(pid)
		u.cpu += cpuTimeOf(pid)
		m := memoryOf(id)
		u.peak += m.Peak
		u.held = append(u.held, m)
		u.written += writtenBy(id)
	}
	return u
}

// replaceBroker kills the broker, starts it again on its data, and returns how long it took until it answered.
func (x *crew) replaceBroker(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	begin := time.Now()
	x.broker.Kill()
	err := x.broker.Start(ctx)
	return time.Since(begin), err
}

// closeBroker ends it, if there is one.
func (x *crew) closeBroker() error {
	if x.broker == nil {
		return nil
	}
	b := x.broker
	x.broker = nil
	if err := b.Close(); err != nil {
		return errors.Join(errors.New("end the broker"), err)
	}
	return nil
}
