package core

import (
	"os"
	"strings"
	"testing"
)

// The table of transitions in doc.go is the one that the code has.
func TestM5_TransitionsAreTheDocumentedOnes(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "from      event ")
	table, _, ended := strings.Cut(table, "//\n")
	if !found || !ended {
		t.Fatal("doc.go has no table of transitions")
	}
	entries := map[EntryKind]string{0: "-", Suspected: "Suspected", Restarted: "Restarted", Adopted: "Adopted", Missed: "Missed",
		Recovered: "Recovered"}
	documented := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		f := strings.Fields(strings.TrimPrefix(line, "//"))
		if len(f) < 5 {
			t.Fatalf("a transition needs four columns and a reason: %q", line)
		}
		documented[f[0]+" "+f[1]] = f[2] + " " + f[3]
	}
	for s, o := range transitions {
		key := s.from.String() + " " + s.on.String()
		if got, want := documented[key], o.to.String()+" "+entries[o.writes]; got != want {
			t.Errorf("%s: doc.go says %q, the code %q", key, got, want)
		}
		delete(documented, key)
	}
	for key := range documented {
		t.Errorf("%s: only doc.go has it", key)
	}
}

func TestM5_AnUnknownTransitionStopsTheMedic(t *testing.T) {
	b := led()
	defer func() {
		if p, ok := recover().(string); !ok || p != "M5: a-1 is well, which has no transition on restarted" {
			t.Errorf("it panics with %v", p)
		}
	}()
	b.enter(b.targets["a-1"], onRestarted, Entry{}, b.now)
}
