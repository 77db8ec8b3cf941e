package agenda

import (
	"slices"
	"testing"
	"time"
)

func TestWhatIsPlannedHappensInOrder(t *testing.T) {
	a := New(1, 2)
	var did []string
	say := func(s string) func() { return func() { did = append(did, s) } }
	a.After(2*time.Second, say("late"))
	a.After(time.Second, func() {
		say("first")()
		a.After(-time.Second, say("at once")) // the past is over
	})
	a.After(time.Second, say("second"))
	for !a.Empty() {
		a.Next()()
	}
	if want := []string{"first", "second", "at once", "late"}; !slices.Equal(did, want) {
		t.Errorf("it went %v, want %v", did, want)
	}
	if a.At != 2*time.Second || a.Events != 4 || !a.Now().Equal(epoch.Add(2*time.Second)) {
		t.Errorf("at %v after %d events, now %v", a.At, a.Events, a.Now())
	}
}

func TestASeedIsARun(t *testing.T) {
	draw := func(seed uint64) (all []int64) {
		a := New(seed, 3)
		for range 20 {
			d := a.Between(time.Second, 3*time.Second)
			if d < time.Second || d >= 3*time.Second {
				t.Fatalf("%v is not between 1s and 3s", d)
			}
			all = append(all, int64(d), int64(OneOf(a, 1, 2, 3)))
		}
		return all
	}
	if !slices.Equal(draw(7), draw(7)) || slices.Equal(draw(7), draw(8)) {
		t.Error("equal seeds must draw the same, others something else")
	}
	a := New(1, 1)
	if a.Between(time.Second, time.Second) != time.Second || a.Chance(0) || !a.Chance(1) {
		t.Error("an empty range is its beginning, 0 is never and 1 is always")
	}
}
