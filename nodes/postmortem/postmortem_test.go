package postmortem

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestN9_ANoteComesBackAsItWasLeft(t *testing.T) {
	dir := t.TempDir()
	if _, ok, err := ReadHung(dir); ok || err != nil {
		t.Fatalf("a note that nobody left: %v, %v", ok, err)
	}
	want := Hung{Session: "ab000000-0000-0000-0000-000000000000", Role: "joiner", Stream: "trips", For: 31 * time.Second}
	for range 2 { // the second one replaces the first
		if err := WriteHung(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok, err := ReadHung(dir); !ok || err != nil || got != want {
		t.Fatalf("%+v, %v, %v", got, ok, err)
	}
	for range 2 {
		if err := RemoveHung(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := ReadHung(dir); ok || err != nil {
		t.Fatalf("it is removed, and read: %v, %v", ok, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestN9_ATornNoteSaysNothing: a note that was cut anywhere, or has any bit flipped, counts as damaged.
func TestN9_ATornNoteSaysNothing(t *testing.T) {
	dir := t.TempDir()
	if err := WriteHung(dir, Hung{Session: "s", Role: "joiner"}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, hungFile)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if h, ok, err := ReadHung(dir); ok || !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %+v, %v, %v", what, h, ok, err)
		}
	}
	for n := range whole {
		damaged("cut", whole[:n])
		flipped := append([]byte(nil), whole...)
		flipped[n] ^= 0x10
		damaged("flipped", flipped)
	}
	damaged("large", make([]byte, maxNote+17))
}

func TestN9_ANoteIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := WriteHung(dir, Hung{Stream: strings.Repeat("x", maxNote)}); err == nil {
		t.Error("a note of any size is written")
	}
	if err := WriteHung(filepath.Join(dir, "away"), Hung{}); err == nil {
		t.Error("a note without a place is written")
	}
}
