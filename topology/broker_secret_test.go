package topology

import (
	"errors"
	"strings"
	"testing"
)

// TestS6_WithoutBrokerSecret: neither the topology nor its text has anything secret afterwards, and the rest is as it was. What cannot be
// taken out is an error.
func TestS6_WithoutBrokerSecret(t *testing.T) {
	for _, c := range []struct{ settings, want string }{ // want is the address; "" for an error
		{`url = "amqp://me:hush-1@rabbit:5672/v"`, "amqp://" + secretElsewhere + "@rabbit:5672/v"},
		{`url = 'amqps://me:hush-1@rabbit/?password=hush-1#hush-1' # was amqp://me:hush-1@old`, "amqps://" + secretElsewhere + "@rabbit/"},
		{`url = "amqp://hush-1@[::1]:5672"`, "amqp://" + secretElsewhere + "@[::1]:5672"},
		{`url = "amqp://me:a%2Fhush-1@rabbit"`, "amqp://" + secretElsewhere + "@rabbit"},
		{`url = "amqp://rabbit"`, "amqp://rabbit"},
		{`url = "amqp://guest:guest@127.0.0.1:5672/"`, "amqp://guest:guest@127.0.0.1:5672/"},
		{`url = "amqp://me:hush-1\u0040rabbit"`, ""},
		{`url = "amqp://me:it's-hush-1@rabbit"`, ""},
		{"url = \"\"\"amqp://me:\\\n  hush-1@rabbit\"\"\"", ""},
	} {
		text, err := Generate(Variant{Settings: map[string]string{"cluster.transport": ViaRabbitMQ}})
		if err != nil {
			t.Fatal(err)
		}
		before, after, _ := strings.Cut(text, "[rabbitmq]\n")
		_, after, _ = strings.Cut(after, "url = ")
		_, after, _ = strings.Cut(after, "\n")
		text = before + "[rabbitmq]\n" + c.settings + "\n" + after
		top, err := Parse("t.toml", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", c.settings, err)
		}
		got, gotText, err := top.WithoutBrokerSecret(text)
		if c.want == "" {
			if !errors.Is(err, errSecretStays) || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "%XX") {
				t.Errorf("%s: %v", c.settings, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.settings, err)
			continue
		}
		if got.BrokerAddress() != c.want || strings.Contains(gotText+got.Canonical(nil), "hush") || got.HasBrokerSecret() ||
			got.Shape() != top.Shape() {
			t.Errorf("%s became %s in\n%s", c.settings, got.BrokerAddress(), gotText)
		}
		secret := strings.Contains(c.settings, "hush")
		if secret != (top.BrokerSecret() != "") || secret != got.BrokerSecretIsElsewhere() || !got.SameBroker(top) {
			t.Errorf("%s: secret %q, elsewhere %v", c.settings, top.BrokerSecret(), got.BrokerSecretIsElsewhere())
		}
		back, err := Parse("t.toml", []byte(got.Canonical(nil))) // as a container reads it
		if err == nil {
			back, err = back.WithBrokerAddress(top.BrokerAddress())
		}
		if err != nil || back.BrokerAddress() != top.BrokerAddress() || back.RabbitMQ.Batch != top.RabbitMQ.Batch {
			t.Errorf("%s: a container makes of it %v, %v", c.settings, back, err)
		}
		if again, same, err := got.WithoutBrokerSecret(gotText); err != nil || again != got || same != gotText {
			t.Errorf("%s: taken out twice: %v", c.settings, err)
		}
	}
}

// TestS6_WithBrokerAddress: an address that is none is refused, and not shown.
func TestS6_WithBrokerAddress(t *testing.T) {
	rabbit := &Topology{Transport: ViaRabbitMQ}
	for _, address := range []string{"nats://me:hush-1@rabbit", "amqp:me:hush-1@rabbit", "", "amqp://me:hush-1@"} {
		if _, err := rabbit.WithBrokerAddress(address); !errors.Is(err, errURLForm) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := (&Topology{Transport: ZMQ}).WithBrokerAddress("amqp://rabbit"); err == nil {
		t.Error("a broker where there is none")
	}
}
