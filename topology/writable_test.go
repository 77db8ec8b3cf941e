package topology

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/internal/owned"
)

// TestS1_ATopologyThatOthersCanWrite: whoever can change the file, or replace it, could have this user start programs and trust strangers.
func TestS1_ATopologyThatOthersCanWrite(t *testing.T) {
	text, err := Generate(Variant{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, dir os.FileMode
		refused   bool
	}{
		"mine alone":                   {0o600, 0o700, false},
		"others read":                  {0o644, 0o755, false},
		"everybody writes":             {0o666, 0o755, true},
		"others write, and not I":      {0o446, 0o755, true},
		"everybody writes beside it":   {0o644, 0o777, true},
		"in a directory like /tmp":     {0o644, 0o777 | os.ModeSticky, false},
		"others write, behind my back": {0o602, 0o700, true},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		file := filepath.Join(dir, "topology.toml")
		for _, err := range []error{os.Mkdir(dir, 0o700), os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, c.file), os.Chmod(dir, c.dir)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Load(file); errors.Is(err, owned.ErrOpen) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Geteuid() != 0 {
		return // only root can give files away
	}
	file := filepath.Join(t.TempDir(), "topology.toml")
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chown(file, 0, 65534), os.Chmod(file, 0o664)); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); !errors.Is(err, owned.ErrOpen) {
		t.Errorf("a group writes: %v", err)
	}
	if err := os.Chown(file, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file); errors.Is(err, owned.ErrOpen) {
		t.Errorf("a group of the owner alone: %v", err)
	}
}
