package link

import "testing"

func TestM10_IncarnationsGrowBySaneSteps(t *testing.T) {
	log := func(n Incarnation) Identity { return Identity{LogID: LogID{1}, Incarnation: n} }
	for _, c := range []struct {
		was, is Identity
		want    bool
	}{
		{Identity{}, log(1), true}, {Identity{}, log(maxFirst), true}, {Identity{}, log(maxFirst + 1), false}, {Identity{}, log(1 << 63), false},
		{log(7), log(7), true}, {log(7), log(3), true}, {log(7), log(8), true}, {log(7), log(7 + maxStep), true},
		{log(7), log(8 + maxStep), false},
		{log(7), log(1<<64 - 1), false}, {log(1<<64 - 1), log(1<<64 - 1), true}, {log(maxFirst), log(maxFirst + maxStep), true},
		{log(7), Identity{LogID: LogID{2}, Incarnation: 1}, true}, {log(7), Identity{LogID: LogID{2}, Incarnation: maxFirst + 1}, false},
	} {
		if got := c.was.Reaches(c.is); got != c.want {
			t.Errorf("%d after %d: %v", c.is.Incarnation, c.was.Incarnation, got)
		}
	}
}
