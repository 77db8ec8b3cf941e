package rundir

import (
	"maps"
	"testing"

	"posta.dev/posta/topology"
)

// TestARunsOwnSettingsGiveWay: the settings that posta run chooses give way to the user's, and are adjusted to fit them.
func TestARunsOwnSettingsGiveWay(t *testing.T) {
	for _, c := range []struct {
		given  map[string]string
		window topology.Size
	}{
		{map[string]string{}, 8 << 20},
		{map[string]string{"limits.window": "1MiB"}, 1 << 20},
		{map[string]string{"limits.chunk": "12MiB", "limits.commit": "12MiB", "medics.replicas": "3"}, 16 << 20},
	} {
		v := topology.Variant{IPCDir: "/tmp/x", Settings: maps.Clone(c.given)}
		Own(v.Settings)
		text, err := topology.Generate(v)
		if err != nil {
			t.Fatalf("%v: %v", c.given, err)
		}
		parsed, err := topology.Parse("t.toml", []byte(text))
		if err != nil {
			t.Fatalf("%v: %v", c.given, err)
		}
		if parsed.Limits.Window != c.window || (parsed.Medics.Replicas == 0) != (c.given["medics.replicas"] == "") {
			t.Errorf("%v: a window of %d and %d medics", c.given, parsed.Limits.Window, parsed.Medics.Replicas)
		}
	}
}
