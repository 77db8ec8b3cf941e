package violation

import (
	"strings"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	for text, want := range map[string][2]string{
		"R5: node-1 stores hwm 3 after 4":       {"R5", "node-1 stores hwm 3 after 4"},
		"M10: medic-1 stores generation 9":      {"M10", "medic-1 stores generation 9"},
		"liveness: not everything came back":    {"liveness", "not everything came back"},
		"panic: M3: from term 3 back to 2":      {"M3", "from term 3 back to 2"},
		"panic: runtime error: index":           {"panic", "runtime error: index"},
		"client 3 gets part 2 after 3":          {"", "client 3 gets part 2 after 3"},
		"the reason of R5: is not at the start": {"", "the reason of R5: is not at the start"},
	} {
		v := New("./test/sim", 7, time.Second, text)
		if v.Rule != want[0] || v.What != want[1] {
			t.Errorf("%q names %q, %q", text, v.Rule, v.What)
		}
		if !strings.HasPrefix(v.Error(), "seed 7, after 1s: ") || !strings.HasSuffix(v.Error(),
			"go test ./test/sim -run TestSeeds -seed=7 -seeds=1 -v") {
			t.Errorf("%q becomes %q", text, v.Error())
		}
	}
}
