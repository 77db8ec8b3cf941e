package scratch

import (
	"errors"
	"fmt"
	"testing"
)

// TestSpool_GivesBackItsBlocks, in any order. A block that was changed is an error.
func TestSpool_GivesBackItsBlocks(t *testing.T) {
	disk := &Memory{}
	f, err := disk.Create()
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpool(f)
	for i := range 20 {
		if n, err := s.Add(fmt.Appendf(nil, "%0*d", i, i)); n != i || err != nil {
			t.Fatal(n, err)
		}
	}
	for _, i := range []int{19, 0, 7, 7} {
		if b, err := s.Read(i, nil); err != nil || string(b) != fmt.Sprintf("%0*d", i, i) {
			t.Fatalf("block %d is %q: %v", i, b, err)
		}
	}
	disk.Harm = func(p []byte) { p[0]++ }
	if _, err := s.Read(7, nil); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if disk.Room = disk.Bytes; s.Len() != 20 || s.Bytes() != disk.Bytes {
		t.Error(s.Len(), s.Bytes())
	}
	if _, err := s.Add([]byte("more")); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if err := s.Remove(); err != nil || disk.Files != 0 {
		t.Error(err, disk.Files)
	}
}
