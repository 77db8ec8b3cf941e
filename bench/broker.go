package bench

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"posta.dev/posta/bench/brokers"
	"posta.dev/posta/topology"
)

// brokerKind is a broker between the nodes of a contestant. Each round of each contestant starts its own broker, with
// its own data below the round's directory, so that no round finds queues or cached files of another. The time of a
// broker's start is not measured, since in practice brokers run already; its work is measured from the nodes' start on.
type brokerKind struct {
	settings map[string]string // of the topology
	needs    need
	// start starts the broker below dir, and returns the settings with which a topology connects to it.
	start     func(ctx context.Context, c *Config, dir string) (runningBroker, map[string]string, error)
	minUptime time.Duration // how long a broker must have run before it may be killed
}

// runningBroker is a broker that runs. One goroutine calls its methods.
type runningBroker interface {
	Start(context.Context) error // restarts after Kill on the same data; returns when it answers
	Kill()
	PIDs() []int
	Close() error
}

// brokerNames lists the contestants that send frames over a broker, in the order of the table.
var brokerNames = []string{"rabbitmq-classic", "rabbitmq-quorum", "nats", "nats-sync-always"}

var brokerKinds = map[string]*brokerKind{
	"rabbitmq-classic": {settings: map[string]string{"rabbitmq.queue": "classic"}, needs: rabbitMQ, start: startRabbitMQ},
	// RabbitMQ 3.10 loses a quorum queue for good when it is killed in the second in which the queue was declared.
	"rabbitmq-quorum": {settings: map[string]string{"rabbitmq.queue": topology.QuorumQueue}, needs: rabbitMQ, start: startRabbitMQ,
		minUptime: 3 * time.Second},
	"nats":             {settings: map[string]string{}, needs: natsServer, start: startNATS("default")},
	"nats-sync-always": {settings: map[string]string{}, needs: natsServer, start: startNATS("always")},
}

// serve starts the broker, and adds the settings that connect nodes to it.
func (k *brokerKind) serve(ctx context.Context, c *Config, dir string, v topology.Variant) (runningBroker, error) {
	maps.Copy(v.Settings, k.settings)
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	b, more, err := k.start(ctx, c, dir)
	maps.Copy(v.Settings, more)
	return b, err
}

// brokerTime bounds the start of a broker: RabbitMQ takes five seconds of one core, of which it may have a twentieth.
const brokerTime = 5 * time.Minute

func startRabbitMQ(ctx context.Context, c *Config, dir string) (runningBroker, map[string]string, error) {
	b, err := brokers.StartRabbitMQ(ctx, filepath.Join(dir, "rabbitmq"))
	if err != nil {
		return nil, nil, err
	}
	c.version("rabbitmq", b.Version())
	return b, map[string]string{"cluster.transport": topology.ViaRabbitMQ, "rabbitmq.url": b.URL()}, nil
}

// startNATS starts the NATS server of bench/rivals with a value of its flag -sync.
func startNATS(sync string) func(context.Context, *Config, string) (runningBroker, map[string]string, error) {
	return func(ctx context.Context, c *Config, dir string) (runningBroker, map[string]string, error) {
		program, err := c.rival(ctx, natsServer)
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

// replaceBroker kills the broker, starts it again on its data, and returns how long it took until it answered.
func (x *cluster) replaceBroker(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, brokerTime)
	defer cancel()
	begin := time.Now()
	x.broker.Kill()
	err := x.broker.Start(ctx)
	return time.Since(begin), err
}
