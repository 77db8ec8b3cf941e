package bench

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"posta.dev/posta/bench/brokers"
	"posta.dev/posta/topology"
)

// carrier is a broker between the nodes of a contestant. Each round of each contestant has a broker of its own, with data of its own
// below the round's directory: none finds the last one's queues, or its files in the page cache. Its start is not measured,
// as brokers are there already where people have them; what it does from the nodes' start on is.
type carrier struct {
	settings map[string]string // of the topology, with the kind of queue or sync
	// start starts it below dir, and returns what else the topology needs to lead to it.
	start  func(ctx context.Context, c *Config, dir string) (server, map[string]string, error)
	absent func(ctx context.Context, c *Config) string // as contestant's
	settle time.Duration                               // that it must have been used before it may be killed
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
		return &carrier{settings: map[string]string{"rabbitmq.queue": "classic"}, start: startRabbitMQ, absent: rabbitAbsent}
	case "rabbitmq-quorum":
		// RabbitMQ 3.10 loses a quorum queue for good when it is killed in the second in which the queue was declared.
		return &carrier{settings: map[string]string{"rabbitmq.queue": topology.QuorumQueue}, start: startRabbitMQ, absent: rabbitAbsent, settle: 3 * time.Second}
	case "nats":
		return &carrier{settings: map[string]string{}, start: startNATS("default"), absent: natsAbsent}
	case "nats-sync-always":
		return &carrier{settings: map[string]string{}, start: startNATS("always"), absent: natsAbsent}
	}
	return nil
}

// serve starts the broker, and adds to the settings what leads to it.
func (k *carrier) serve(ctx context.Context, c *Config, dir string, v topology.Variant) (server, error) {
	maps.Copy(v.Settings, k.settings)
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	b, more, err := k.start(ctx, c, dir)
	maps.Copy(v.Settings, more)
	return b, err
}

// brokerTime is for a broker to start: RabbitMQ takes five seconds of one core.
const brokerTime = 2 * time.Minute

func startRabbitMQ(ctx context.Context, c *Config, dir string) (server, map[string]string, error) {
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

// startNATS starts the program of bench/rivals with one of its -sync.
func startNATS(sync string) func(context.Context, *Config, string) (server, map[string]string, error) {
	return func(ctx context.Context, c *Config, dir string) (server, map[string]string, error) {
		program, err := c.rival(ctx, natsProgram)
		if err != nil {
			return nil, nil, err
		}
		b, err := brokers.StartNATS(ctx, program, filepath.Join(dir, "nats"), "-sync", sync)
		if err != nil {
			return nil, nil, err
		}
		c.version("nats-server", b.Version())
		return b, map[string]string{"cluster.transport": topology.ViaNATS, "nats.url": b.URL()}, nil
	}
}

// natsAbsent builds the server.
func natsAbsent(ctx context.Context, c *Config) string { return c.rivalAbsent(ctx, natsProgram) }

// replaceBroker kills the broker, starts it again on its data, and returns how long it took until it answered.
func (x *crew) replaceBroker(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	begin := time.Now()
	x.broker.Kill()
	err := x.broker.Start(ctx)
	return time.Since(begin), err
}
