package medic

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// A write that is torn at any byte leaves the previous text readable, and the next write is read.
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
	for _, damaged := range []string{"", "generation 7 down 0 leader medic-3\n", strings.Repeat("\x00", 2*slotSize),
		string(whole[:slotSize])} {
		if err := os.WriteFile(name, []byte(damaged), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSlots(name); !errors.Is(err, ErrBadSlots) {
			t.Errorf("%d damaged bytes: %v", len(damaged), err)
		}
	}
}

// TestReservingNeverReplaces: all medics of a host reserve its files at once when they start, and one of them may write
// a file meanwhile. The text that was written stays: without its fence a host would obey an old leader (M4).
func TestReservingNeverReplaces(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		name := filepath.Join(dir, strconv.Itoa(i))
		const medics = 3
		reserved := make(chan error, medics)
		for range medics { // all with the same pid, as in containers
			go func() { reserved <- ReserveSlots(name) }()
		}
		if err := WriteSlots(name, "generation 7", false); err != nil {
			t.Fatal(err)
		}
		for range medics {
			if err := <-reserved; err != nil {
				t.Fatal(err)
			}
		}
		if text, err := ReadSlots(name); err != nil || text != "generation 7" {
			t.Fatalf("file %d: %q, %v", i, text, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 300 {
		t.Errorf("%d files for 300: %v", len(left), err)
	}
}

// TestReserveSlotsSweeps the drafts of killed processes, and nothing else, whether the file exists or not.
func TestReserveSlotsSweeps(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "joiner-1")
	others := []string{"joiner-1", "joiner-1.pid", "joiner-1.0123456789abcde", "joiner-1.0123456789abcdeg", "joiner-11.0123456789abcdef"}
	for _, other := range others[1:] {
		if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, when := range []string{"the file is not there", "the file is there"} {
		for _, left := range []string{"joiner-1.0123456789abcdef", "joiner-1.fedcba9876543210.tmp"} {
			if err := os.WriteFile(filepath.Join(dir, left), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := ReserveSlots(name); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		slices.Sort(others)
		if !slices.Equal(names, others) {
			t.Errorf("%s: %q is left, want %q", when, names, others)
		}
	}
	if err := ReserveSlots(filepath.Join(dir, "away", "joiner-1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file without a directory: %v", err)
	}
}
