package topology

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	"posta.dev/posta/internal/lazy"
)

// secretElsewhere is the user in a broker's address whose user, password and options are in a file beside the keys of a node (S6).
const secretElsewhere = "posta-secret-elsewhere"

// errSecretStays is wrapped by WithoutBrokerSecret if the text still contains something secret.
var errSecretStays = errors.New("the address of the broker cannot be taken out of the text")

// brokerAddress matches what looks like the address of a broker, up to the end of a TOML string.
var brokerAddress = lazy.Regexp(`\b(amqps?|nats|tls):(//[^\s"'<>]*|[^\s"'<>]*@[^\s"'<>]*)`)

// BrokerAddress returns the address of the broker that carries the frames, with its password; "" when there is none.
func (t *Topology) BrokerAddress() string {
	switch t.Transport {
	case ViaRabbitMQ:
		return t.RabbitMQ.URL
	case ViaNATS:
		return t.NATS.URL
	}
	return ""
}

// BrokerSecret returns BrokerAddress if the address has a secret user, password or options, otherwise "".
func (t *Topology) BrokerSecret() string {
	if address := t.BrokerAddress(); withoutSecret(address) != address {
		return address
	}
	return ""
}

// BrokerSecretIsElsewhere reports whether the address of the broker that carries the frames is one that WithoutBrokerSecret has left.
func (t *Topology) BrokerSecretIsElsewhere() bool {
	u, err := url.Parse(t.BrokerAddress())
	return err == nil && u.User.Username() == secretElsewhere
}

// WithBrokerAddress returns the topology with another address of the broker that carries the frames. The error does not show the address.
func (t *Topology) WithBrokerAddress(address string) (*Topology, error) {
	same, check := *t, checkAMQP
	switch t.Transport {
	case ViaRabbitMQ:
		same.RabbitMQ.URL = address
	case ViaNATS:
		same.NATS.URL, check = address, checkNATS
	default:
		return nil, fmt.Errorf("transport %q has no broker", t.Transport)
	}
	if err := check(address); err != nil {
		return nil, err
	}
	return &same, nil
}

// SameBroker reports whether two topologies name the same broker; the user may be different.
func (t *Topology) SameBroker(other *Topology) bool {
	return t.Transport == other.Transport && withoutSecret(t.BrokerAddress()) == withoutSecret(other.BrokerAddress())
}

// WithoutBrokerSecret returns a topology and its text without users, passwords and options of brokers. It removes them from comments, too
// (S6). A topology without them stays as it is. After an error, there is no text.
func (t *Topology) WithoutBrokerSecret(text string) (*Topology, string, error) {
	if !t.HasBrokerSecret() {
		return t, text, nil
	}
	text = brokerAddress().ReplaceAllStringFunc(text, withoutSecret)
	same := *t
	same.RabbitMQ.URL, same.NATS.URL = withoutSecret(t.RabbitMQ.URL), withoutSecret(t.NATS.URL)
	got, err := ParseAt(t.File, []byte(text))
	if err != nil || got.ReadAtStart() != same.ReadAtStart() {
		return &same, "", fmt.Errorf("%w: write it as one plain string, url = \"SCHEME://USER:PASSWORD@HOST\", with %%XX for other characters "+
			"than letters and digits in user and password", errSecretStays)
	}
	return &same, text, nil
}

// withoutSecret returns the address of a broker without user, password and options. An address without them, or with the well-known default
// user, stays as it is.
func withoutSecret(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Opaque != "":
		return "(unreadable)"
	case !isSecret(u), slices.ContainsFunc(settings, func(s setting) bool { return s.name == "url" && s.def == address }):
		return address
	}
	return (&url.URL{Scheme: u.Scheme, User: url.User(secretElsewhere), Host: u.Host, Path: u.Path}).String()
}

// isSecret reports whether the address of a broker contains more than a place.
func isSecret(u *url.URL) bool {
	return u.User != nil && u.User.String() != secretElsewhere || u.RawQuery != "" || u.Fragment != ""
}
