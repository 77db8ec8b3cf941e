package topology

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a person may name by mistake ends with an error at once: nothing is waited for, and nothing is read without an end.
func TestR16_ATopologyThatIsNoFileIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(large)
	if err == nil {
		err = errors.Join(f.Truncate(1<<30), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/dev/full": "is a device", "/dev/zero": "is a device", dir: "is a directory", pipe: "is a pipe", large: "larger than 256KiB",
	} {
		done := make(chan error, 1)
		go func() { _, err := Load(path); done <- err }()
		select {
		case err := <-done:
			if !errors.Is(err, ErrNoText) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: no answer", path)
		}
	}
}

// The largest text that is read is read whole.
func TestR16_ATopologyOfTheLargestSizeIsRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "topology.toml")
	text, err := Generate(Variant{})
	if err != nil {
		t.Fatal(err)
	}
	text += "\n#" + strings.Repeat(" ", maxFile-len(text)-2)
	for _, more := range []string{"", " "} {
		if err := os.WriteFile(name, []byte(text+more), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(name); (err == nil) != (more == "") {
			t.Errorf("%d bytes: %v", len(text+more), err)
		}
	}
}
