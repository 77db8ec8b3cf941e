package eventqueue

import (
	"slices"
	"testing"
	"time"
)

func TestWhatIsPlannedHappensInOrder(t *testing.T) {
	q := New(1, 2)
	var did []string
	say := func(s string) func() { return func() { did = append(did, s) } }
	q.After(2*time.Second, say("late"))
	q.After(time.Second, func() {
		say("first")()
		q.After(-time.Second, say("at once")) // a moment in the past becomes the present
	})
	q.After(time.Second, say("second"))
	for !q.Empty() {
		q.Next()()
	}
	if want := []string{"first", "second", "at once", "late"}; !slices.Equal(did, want) {
		t.Errorf("it went %v, want %v", did, want)
	}
	if q.At != 2*time.Second || q.Events != 4 || !q.Now().Equal(epoch.Add(2*time.Second)) {
		t.Errorf("at %v after %d events, now %v", q.At, q.Events, q.Now())
	}
}

func TestASeedIsARun(t *testing.T) {
	draw := func(seed uint64) (all []int64) {
		q := New(seed, 3)
		for range 20 {
			d := q.Between(time.Second, 3*time.Second)
			if d < time.Second || d >= 3*time.Second {
				t.Fatalf("%v is not between 1s and 3s", d)
			}
			all = append(all, int64(d), int64(OneOf(q, 1, 2, 3)))
		}
		return all
	}
	if !slices.Equal(draw(7), draw(7)) || slices.Equal(draw(7), draw(8)) {
		t.Error("equal seeds must draw the same, others something else")
	}
	q := New(1, 1)
	if q.Between(time.Second, time.Second) != time.Second || q.Chance(0) || !q.Chance(1) {
		t.Error("an empty range is its beginning, 0 is never and 1 is always")
	}
}
