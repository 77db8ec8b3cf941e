package topology

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// How frames travel between nodes.
const (
	ZMQ         = "zmq"
	ViaRabbitMQ = "rabbitmq"
)

// Transports are the values of cluster.transport, the default first.
var Transports = []string{ZMQ, ViaRabbitMQ}

// RabbitMQ is where the broker is and how it is used, when Transport is "rabbitmq".
type RabbitMQ struct {
	// URL is amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps.
	URL string
	// Queue is the kind of queues, "classic" (default) or "quorum".
	Queue string
	// Batch is how many bytes of frames may travel as one message, 0 to 16 MiB, default 64 KiB; with 0 each frame is one.
	Batch Size
}

// QuorumQueue is the kind of queues that are replicated.
const QuorumQueue = "quorum"

var queueWords = []string{"classic", QuorumQueue}

var errURLForm = errors.New("no address of the broker")

func rightAMQP(text string) error { return rightURL(text, "amqp", "amqps") }

func rightURL(text string, schemes ...string) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return fmt.Errorf("%q is %w", RedactURL(text), errURLForm)
	}
	return nil
}

// BrokerURL is where the transport's broker is, without the password; "" when there is none.
func (t *Topology) BrokerURL() string {
	if t.Transport == ViaRabbitMQ {
		return RedactURL(t.RabbitMQ.URL)
	}
	return ""
}

// RedactURL is a broker's address without the password, for people and logs.
func RedactURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(unreadable)" // it may hold a password
	}
	return u.Redacted()
}
