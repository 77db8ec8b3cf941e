package medic

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSlotsGiveTheLastTextBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	if _, err := ReadSlots(name); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no file: %v", err)
	}
	if err := ReserveSlots(name); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "one", "", "a much longer text with spaces  in it", "two", strings.Repeat("x", 400)} {
		if err := WriteSlots(name, text, true); err != nil {
			t.Fatal(err)
		}
		if err := ReserveSlots(name); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadSlots(name); err != nil || got != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	for _, bad := range []string{strings.Repeat("x", slotSize), "two\nlines", "ends with a space "} {
		if err := WriteSlots(name, bad, true); err == nil {
			t.Errorf("it takes %q", bad)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Size() != 2*slotSize {
		t.Errorf("%v, %v", info, err)
	}
}

// A write that was torn at any byte leaves the text before it, and the next write is read.
func TestSlotsSurviveATornWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	for _, text := range []string{"before", "old", "new"} {
		if err := WriteSlots(name, text, true); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	if strings.Contains(string(whole[slotSize:]), "new") {
		newest = slotSize
	}
	for at := range len("posta-2 3 12345678 new") {
		torn := append([]byte{}, whole...)
		torn[newest+at] ^= 0x55
		if err := os.WriteFile(name, torn, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadSlots(name); err != nil || got != "old" {
			t.Fatalf("byte %d: %q, %v", at, got, err)
		}
		if err := WriteSlots(name, "next", true); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadSlots(name); err != nil || got != "next" {
			t.Fatalf("byte %d, afterwards: %q, %v", at, got, err)
		}
	}
	for _, damaged := range []string{"", "generation 7 down 0 leader medic-3\n", strings.Repeat("\x00", 2*slotSize), string(whole[:slotSize])} {
		if err := os.WriteFile(name, []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSlots(name); !errors.Is(err, ErrBadSlots) {
			t.Errorf("%d damaged bytes: %v", len(damaged), err)
		}
	}
}
