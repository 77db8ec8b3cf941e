package docker

import (
	"errors"
	"slices"
	"testing"

	"posta.dev/posta/test/await"
)

// TestN9_ANoteIsPutIntoAContainerThatDoesNotRun: the medic writes a note into the container's volume, through the
// engine.
func TestN9_ANoteIsPutIntoAContainerThatDoesNotRun(t *testing.T) {
	f, r := newEngineOf(t, patient)
	c := f.has("c1", "a-1")
	must(t, r.Kill(await.Soon(t), "a-1"))
	must(t, r.Leave(await.Soon(t), "a-1", "/data/a-1", "died", []byte("how it died")))
	f.mu.Lock()
	files := slices.Clone(c.files)
	f.mu.Unlock()
	if !slices.Equal(files, []string{"/data/a-1/died"}) {
		t.Errorf("there are %v", files)
	}
	if err := r.Leave(await.Soon(t), "b-1", "/data/b-1", "died", nil); !errors.Is(err, ErrNoContainer) {
		t.Errorf("a note for a node without a container: %v", err)
	}
}
