package client

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// boundless is a source that never ends.
type boundless struct{}

func (boundless) Read(p []byte) (int, error) { return len(p), nil }

// TestR16_ACopyLeavesHalfOfTheDisk: a source that is copied to the disk may be of any size, and does not fill the disk.
func TestR16_ACopyLeavesHalfOfTheDisk(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	gone := errors.New("gone")
	const room = 1 << 20
	for name, c := range map[string]struct {
		r    io.Reader
		free func(written int64) (int64, error)
		want error
	}{
		"fits": {strings.NewReader(strings.Repeat("x", room/2)), func(n int64) (int64, error) { return room - n, nil }, nil},
		"too large": {strings.NewReader(strings.Repeat("x", room/2+1)), func(n int64) (int64, error) { return room - n, nil },
			errNoRoom},
		"never ends":            {boundless{}, func(n int64) (int64, error) { return room - n, nil }, errNoRoom},
		"others write as well":  {boundless{}, func(n int64) (int64, error) { return room - 40*n, nil }, errNoRoom},
		"no room":               {strings.NewReader("x"), func(int64) (int64, error) { return 0, nil }, errNoRoom},
		"the disk is not there": {boundless{}, func(int64) (int64, error) { return 0, gone }, gone},
		"the disk goes meanwhile": {boundless{}, func(n int64) (int64, error) {
			if n > 0 {
				return 0, gone
			}
			return room, nil
		}, gone},
	} {
		var count atomic.Int64
		f, err := fetch(c.r, &count, func(string) (int64, error) { return c.free(count.Load()) })
		if !errors.Is(err, c.want) || count.Load() > room/2+1 {
			t.Errorf("%s: %d bytes, %v", name, count.Load(), err)
		}
		if err != nil {
			continue
		}
		got, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		if err = errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, bytes.Repeat([]byte("x"), room/2)) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if free, err := freeIn(dir); err != nil || free <= 0 {
		t.Errorf("%d bytes are free, %v", free, err)
	}
	if _, err := freeIn(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
