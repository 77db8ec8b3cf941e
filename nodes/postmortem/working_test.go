package postmortem

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestN9_ThreeDeathsWithoutProgress: a session during whose work a node died three times is given up if it got no further in between,
// whoever killed the node. One that got further is innocent, however often a node dies while it works there.
func TestN9_ThreeDeathsWithoutProgress(t *testing.T) {
	type death struct {
		of string
		at uint64 // the last record about the session
	}
	for name, c := range map[string]struct {
		deaths []death
		over   []string
	}{
		"no progress":                       {[]death{{"a", 7}, {"a", 7}, {"a", 7}}, []string{"a"}},
		"progress each time":                {[]death{{"a", 7}, {"a", 8}, {"a", 9}, {"a", 12}, {"a", 13}}, nil},
		"progress once":                     {[]death{{"a", 7}, {"a", 7}, {"a", 8}, {"a", 8}}, nil},
		"others die in between":             {[]death{{"a", 7}, {"b", 9}, {"a", 7}, {"b", 11}, {"a", 7}}, []string{"a"}},
		"the log was cut":                   {[]death{{"a", 7}, {"a", 0}, {"a", 0}, {"a", 0}}, []string{"a"}},
		"two sessions":                      {[]death{{"a", 7}, {"b", 5}, {"a", 7}, {"b", 5}}, nil},
		"it has left, and so has its count": {[]death{{"a", 7}, {"a", 7}, {"", 0}, {"a", 7}}, nil},
	} {
		dir, over := t.TempDir(), map[string]string{}
		for _, death := range c.deaths {
			d, err := ReadDeaths(dir)
			if err != nil {
				t.Fatal(err)
			}
			if d.Only([]string{"a", "b"}); death.of == "" {
				d.Only(nil)
			} else {
				d = d.Tried(Working{Session: death.of, Role: "joiner", Stream: "trips"}, death.at)
			}
			if err := WriteDeaths(dir, d); err != nil {
				t.Fatal(err)
			}
			maps.Copy(over, d.Over("joiner-1"))
		}
		if got := slices.Sorted(maps.Keys(over)); !reflect.DeepEqual(got, c.over) {
			t.Errorf("%s: %v is given up, want %v", name, got, c.over)
		}
		for _, reason := range over {
			if !strings.Contains(reason,
				"node joiner-1 died 3 times in a row while it worked long for this session in stage joiner on stream trips") {
				t.Error(reason)
			}
		}
		if err := Settle(dir); err != nil {
			t.Fatal(err)
		}
		if d, err := ReadDeaths(dir); err != nil || len(d.Over("")) > 0 {
			t.Errorf("%s: %+v is left, %v", name, d, err)
		}
	}
}
