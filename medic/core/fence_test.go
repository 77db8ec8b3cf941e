package core

import (
	"testing"
	"time"
)

func TestM4_TheHostJudges(t *testing.T) {
	now := begin.Add(time.Hour)
	order := Order{OrderID: OrderID{5, 0, 2}, Leader: "medic-3", Silent: suspectAfter, Until: now.Add(time.Second), Margin: heartbeat,
		Young: suspectAfter}
	fence := Fence{Term: Term{5, "medic-3", 0}}
	clock := func(ago time.Duration) Instant { return Instant{"this boot", 2*time.Hour - ago} }
	old := Started{At: clock(time.Hour)}
	for what, c := range map[string]struct {
		fence func(*Fence)
		order func(*Order)
		last  Started
		dead  bool
		want  Verdict
		do    bool
	}{
		"a silent process":                  {want: Done, do: true, last: old},
		"nobody there":                      {want: Done, do: true, last: old, dead: true},
		"an older generation":               {order: func(o *Order) { o.Gen = 4 }, want: Refused, last: old},
		"another leader of this generation": {order: func(o *Order) { o.Leader = "medic-2" }, want: Refused, last: old},
		"another life of this leader (R14)": {order: func(o *Order) { o.Life++ }, want: Refused, last: old},
		"the number of another life's order (R14)": {last: Started{At: clock(time.Hour), Order: OrderID{5, 9, 2}, Verdict: Done}, want: Done,
			do: true},
		"a fence behind a start (R14)":           {last: Started{At: clock(time.Hour), Order: OrderID{6, 2, 1}, Verdict: Done}, want: Refused},
		"a start of another boot (M10)":          {last: Started{At: Instant{"a boot before", 2*time.Hour - heartbeat}}, want: Done, do: true},
		"a start in the future (M10)":            {last: Started{At: clock(-time.Hour)}, want: Done, do: true},
		"a start that nobody noted":              {want: Done, do: true},
		"a host that is taken down":              {fence: func(f *Fence) { f.Down = true }, want: Held, last: old},
		"too late":                               {order: func(o *Order) { o.Until = now.Add(-1) }, want: Late, last: old},
		"the same order again":                   {last: Started{At: clock(time.Hour), Order: OrderID{5, 0, 2}, Verdict: Done}, want: Done},
		"an order that was overtaken":            {last: Started{At: clock(time.Hour), Order: OrderID{5, 0, 3}, Verdict: Done}, want: Found},
		"a process younger than the silence":     {last: Started{At: clock(suspectAfter)}, want: Found},
		"a young one that is dead":               {last: Started{At: clock(heartbeat)}, dead: true, want: Done, do: true},
		"a living one where one was seen to end": {order: func(o *Order) { o.Ended = true }, last: old, want: Found},
		"a dead one that was seen to end, at once": {order: func(o *Order) { o.Ended, o.Silent = true, heartbeat },
			last: Started{At: clock(heartbeat)}, dead: true, want: Done, do: true},
		"a process that is younger than suspicions": {order: func(o *Order) { o.Silent = heartbeat }, last: Started{At: clock(3 * heartbeat)},
			want: Found},
	} {
		f, o := fence, order
		if c.fence != nil {
			c.fence(&f)
		}
		if c.order != nil {
			c.order(&o)
		}
		r, do := f.Decide(o, c.last, !c.dead, now, clock(0))
		if r.Verdict != c.want || do != c.do || r.Verdict == Refused && r.Term.Gen < fence.Term.Gen {
			t.Errorf("%s: %v, done: %v, %+v", what, r.Verdict, do, r)
		}
	}
}

func TestM4_AFenceOnlyRises(t *testing.T) {
	f := Fence{}
	for _, step := range []struct {
		term    Term
		changed bool
		want    Term
	}{
		{Term{2, "medic-2", 0}, true, Term{2, "medic-2", 0}}, {Term{2, "medic-3", 0}, false, Term{2, "medic-2", 0}},
		{Term{1, "medic-3", 0}, false, Term{2, "medic-2", 0}}, {Term{3, "medic-1", 0}, true, Term{3, "medic-1", 0}},
	} {
		var changed bool
		if f, changed = f.Raise(step.term); changed != step.changed || f.Term != step.want {
			t.Errorf("after %v the fence is %v, changed: %v", step.term, f.Term, changed)
		}
	}
}
