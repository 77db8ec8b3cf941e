package topology

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// How frames travel between nodes.
const (
	ZMQ         = "zmq"
	ViaRabbitMQ = "rabbitmq"
	ViaNATS     = "nats"
)

// transports are the values of cluster.transport, the default first.
var transports = []string{ZMQ, ViaRabbitMQ, ViaNATS}

// RabbitMQ is the address and the settings of the broker, if Transport is "rabbitmq".
type RabbitMQ struct {
	// URL is amqp://USER:PASSWORD@HOST:PORT/VHOST, or amqps.
	URL string
	// Queue is the kind of queues, "classic" (default) or "quorum".
	Queue string
	// Batch is how many bytes of frames may travel as one message, 0 to 16 MiB, default 64 KiB; with 0 each frame is a message of its own.
	Batch Size
}

// NATS is the address and the settings of the server, if Transport is "nats".
type NATS struct {
	// URL is nats://USER:PASSWORD@HOST:PORT, or tls.
	URL string
	// Batch is as RabbitMQ.Batch.
	Batch Size
}

// MaxNATSFrame is the largest limits.frame with transport "nats". JetStream's files hold messages of at most 32 MiB: when the server reads
// a longer message back, it considers it damaged. The difference is for headers.
const MaxNATSFrame Size = 30 << 20

// QuorumQueue is the kind of queues that are replicated.
const QuorumQueue = "quorum"

var queueWords = []string{"classic", QuorumQueue}

var errURLForm = errors.New("not an address of the broker")

func checkAMQP(text string) error { return checkURL(text, "amqp", "amqps") }

func checkNATS(text string) error { return checkURL(text, "nats", "tls") }

func checkURL(text string, schemes ...string) error {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" {
		return fmt.Errorf("%q is %w", RedactURL(text), errURLForm)
	}
	return nil
}

// BrokerURL returns the address of the transport's broker, without the password; "" if there is none.
func (t *Topology) BrokerURL() string {
	switch t.Transport {
	case ViaRabbitMQ:
		return RedactURL(t.RabbitMQ.URL)
	case ViaNATS:
		return RedactURL(t.NATS.URL)
	}
	return ""
}

// RedactURL returns a broker's address without the password, for people and logs. In an address of NATS, a user without a password is a
// token, which is a secret like a password: nats://TOKEN@HOST.
func RedactURL(text string) string {
	u, err := url.Parse(text)
	// the password contains a slash, or there are several addresses; nats:user:password@host is parsed as a scheme and an opaque text
	if err != nil || u.Opaque != "" || strings.ContainsAny(u.Path+u.RawQuery+u.Fragment, "@,") {
		return "(unreadable)" // it may contain a password
	}
	if _, has := u.User.Password(); u.User != nil && !has && u.Scheme != "amqp" && u.Scheme != "amqps" {
		u.User = url.User("xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx" // options, which may be passwords
	}
	return u.Redacted()
}

// HasBrokerSecret reports whether the topology names a broker with a user or options. Then only the user of the file may read its text
// (S6). The default user guest is no secret.
func (t *Topology) HasBrokerSecret() bool {
	for _, s := range settings {
		if s.name != "url" || s.text(t) == s.def {
			continue
		}
		if u, err := url.Parse(s.text(t)); err != nil || isSecret(u) {
			return true
		}
	}
	return false
}
