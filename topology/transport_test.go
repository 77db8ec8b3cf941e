package topology

import (
	"strings"
	"testing"
)

// TestS6_AddressesOfBrokersAreShownWithoutSecrets, well-formed or not: errors quote what is malformed.
func TestS6_AddressesOfBrokersAreShownWithoutSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"amqp://guest@rabbit:5672/posta":          "amqp://guest@rabbit:5672/posta",
		"amqp://posta:hush-1@rabbit:5672/posta":   "amqp://posta:xxxxx@rabbit:5672/posta",
		"amqps://:hush-1@rabbit":                  "amqps://:xxxxx@rabbit",
		"nats://posta:hush-1@broker:4222":         "nats://posta:xxxxx@broker:4222",
		"nats://hush-1@broker:4222":               "nats://xxxxx@broker:4222",
		"tls://hush-1@broker:4222":                "tls://xxxxx@broker:4222",
		"nats://broker:4222":                      "nats://broker:4222",
		"http://hush-1@broker":                    "http://xxxxx@broker",
		"nats:posta:hush-1@broker":                "(unreadable)",
		"nats://posta:hush-1@broker:port":         "(unreadable)",
		"nats://posta:hush-1@broker:4222/%zz":     "(unreadable)",
		"amqp://posta:12/hush-1@rabbit:5672/":     "(unreadable)",
		"amqp://posta:12?hush-1@rabbit:5672/":     "(unreadable)",
		"nats://hush-1@a:4222,nats://hush-1@b:42": "(unreadable)",
		"amqp://rabbit?password=hush-1":           "amqp://rabbit?xxxxx",
		"posta:hush-1@broker:4222":                "(unreadable)",
		"nats://posta:hush-1 and more@broker:42":  "(unreadable)",
	} {
		if got := RedactURL(text); got != want || strings.Contains(got, "hush") {
			t.Errorf("%s is shown as %s, not %s", text, got, want)
		}
	}
}
