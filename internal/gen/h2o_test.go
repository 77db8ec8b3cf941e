package gen

import (
	"hash/fnv"
	"regexp"
	"strings"
	"testing"
)

// pinnedH2O is a hash of the data of 5,000 rows and seed 3.
const pinnedH2O = 0xd3f62e3b46187095

func TestH2O(t *testing.T) {
	d := memory{}
	if err := H2O(d, 5000, 3); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(d["x.csv"].String(), "\n"), "\n")
	row := regexp.MustCompile(`^id\d{3},id\d{3},id\d{10},\d{1,3},\d{1,3},\d{1,2},[1-5],\d{1,2},\d{1,2}(\.\d{1,6})?$`)
	var different [9]map[string]bool
	for _, l := range lines[1:] {
		if !row.MatchString(l) {
			t.Fatalf("%q", l)
		}
		for i, v := range strings.Split(l, ",") {
			if different[i] == nil {
				different[i] = map[string]bool{}
			}
			different[i][v] = true
		}
	}
	for i, want := range []int{100, 100, 50, 100, 100, 50, 5, 15} {
		if len(different[i]) != want {
			t.Errorf("column %d has %d different values, not %d", i+1, len(different[i]), want)
		}
	}
	if len(lines) != 5001 || lines[0] != "id1,id2,id3,id4,id5,id6,v1,v2,v3" {
		t.Errorf("%d lines, header %q", len(lines), lines[0])
	}
	h := fnv.New64a()
	h.Write(d["x.csv"].Bytes())
	if h.Sum64() != pinnedH2O {
		t.Errorf("other bytes than before: %#x", h.Sum64())
	}
	if err := H2O(d, -1, 3); err == nil {
		t.Error("-1 rows")
	}
	if err := H2O(d, 0, 3); err != nil || strings.Count(d["x.csv"].String(), "\n") != 1 {
		t.Errorf("0 rows: %q, %v", d["x.csv"], err)
	}
}
