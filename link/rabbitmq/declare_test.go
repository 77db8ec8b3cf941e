package rabbitmq

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/topology"
)

// TestR16_QueuesAreBoundedInBytes: this also bounds the memory of a receiver, because a prefetch counts messages only; see "What is
// bounded".
func TestR16_QueuesAreBoundedInBytes(t *testing.T) {
	for _, settings := range []map[string]string{nil, {"limits.window": "64KiB", "limits.chunk": "32KiB", "limits.frame": "256MiB"}} {
		text, err := topology.Generate(topology.Variant{Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		tp, err := topology.Parse("topology.toml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		// what a sender may have under way: with less, the broker would drop frames that are needed
		least := int64(tp.Limits.Window + tp.Limits.Frame)
		if most, _ := arguments(tp)[amqp.QueueMaxLenBytesArg].(int64); most < least || most > 2*least {
			t.Errorf("with %v a queue holds up to %d bytes, of windows of %s and frames of %s", settings, most, tp.Limits.Window, tp.Limits.Frame)
		}
	}
}
