package postmortem

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestN9_ThreeDeathsInARow: a session that was open at three deaths in a row is given up. For a session that came later, or was not open at
// one of them, counting starts again.
func TestN9_ThreeDeathsInARow(t *testing.T) {
	dir := t.TempDir()
	for i, life := range []struct {
		open []string
		over []string
	}{
		{[]string{"a", "b"}, nil},
		{[]string{"a", "c"}, nil}, // b has left, c is new
		{[]string{"a", "b", "c"}, []string{"a"}},
		{[]string{"b", "c"}, []string{"c"}},
		{[]string{"b"}, []string{"b"}},
	} {
		before, err := ReadDeaths(dir)
		if err != nil {
			t.Fatal(err)
		}
		d := before.After(Died{Cause: "exit status 9"}, life.open)
		if err := WriteDeaths(dir, d); err != nil {
			t.Fatal(err)
		}
		if over := slices.Sorted(maps.Keys(d.Over("joiner-1"))); !reflect.DeepEqual(over, life.over) {
			t.Fatalf("death %d: %v is given up, want %v", i+1, over, life.over)
		}
		if err := Settle(dir); err != nil {
			t.Fatal(err)
		}
	}
	if d, err := ReadDeaths(dir); err != nil || len(d.Sessions) > 0 {
		t.Errorf("%+v, %v is left", d, err)
	}
}

// TestN9_ACountThatCannotBeReadEnds: a damaged count is removed, or it would be reported at every start.
func TestN9_ACountThatCannotBeReadEnds(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, deathsFile), []byte("rubbish"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadDeaths(dir); !errors.Is(err, ErrDamaged) {
		t.Fatalf("the count is %v", err)
	}
	if err := Settle(dir); err != nil {
		t.Fatal(err)
	}
	if d, err := ReadDeaths(dir); err != nil || len(d.Sessions) > 0 {
		t.Errorf("%+v, %v is left", d, err)
	}
}

func TestN9_TheReasonSaysWhatToDo(t *testing.T) {
	d := Deaths{Last: Died{Cause: "killed by the kernel for its memory", Memory: true}}
	for _, want := range []string{"joiner-1", "died 3 times", "killed by the kernel", "more memory"} {
		if got := d.reason("joiner-1"); !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

func TestN9_HowItDiedComesBack(t *testing.T) {
	dir, want := t.TempDir(), Died{Cause: "exit status 9", Memory: true}
	if err := WriteDied(dir, want); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := ReadDied(dir); !ok || err != nil || got != want {
		t.Fatalf("%+v, %v, %v", got, ok, err)
	}
	if err := RemoveDied(dir); err != nil {
		t.Fatal(err)
	}
	if name, data, err := want.Encode(); name != diedFile || len(data) == 0 || err != nil {
		t.Errorf("%q, %q, %v", name, data, err)
	}
}
