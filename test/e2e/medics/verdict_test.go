package medics

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

const (
	// noticedWithin is how late the journal may report a fault: the suspicion, an election if the leader was hit too, and a machine that has
	// other things to do.
	noticedWithin = 20 * time.Second
	// feltFor is how long after a restart with lost data sessions may begin that still fail because of it: until the
	// node's peers have told it.
	feltFor = 10 * time.Second
	// failsWithin is how long a session may run on after the last fault that permits it to fail.
	failsWithin = 60 * time.Second
)

// verdict is the result of a storm.
type verdict struct {
	injected    map[faultKind]int
	effective   map[faultKind]int // of those on disks: something was lost
	analyses    []string
	right       map[string]int
	failed      map[string]int // in words, and some disk had lost something
	reasons     []string       // of those that failed in words
	wrong       []string
	hung        []string
	unpermitted []string // failed although no disk had lost anything, or without a reason, or late
	slowest     time.Duration
	latest      time.Duration // how long after the loss that permits it a session failed
	incidents   int
	late        int      // entries of journals that came to light late
	unexplained []string // incidents without a fault
}

// losses are the times at which disks had lost data: each from the death to some time after the restart.
type loss struct{ from, to time.Time }

func (s *storm) judge(ends []end, journal []clustertest.Sighting) *verdict {
	v := &verdict{injected: map[faultKind]int{}, effective: map[faultKind]int{}, right: map[string]int{}, failed: map[string]int{}}
	var losses []loss
	for _, f := range s.faults {
		v.injected[f.kind]++
		if l, lost := s.lossOf(f); lost {
			v.effective[f.kind]++
			losses = append(losses, l)
		}
	}
	for i := range ends {
		v.take(&ends[i], losses, s.delayed)
	}
	s.takeJournal(v, journal)
	return v
}

// lossOf returns when a fault has removed something from a disk.
func (s *storm) lossOf(f *fault) (loss, bool) {
	if f.order == 0 || f.kind != setBack && f.kind != flipped && f.kind != restored {
		return loss{}, false
	}
	said, done := s.orders.told(f.order)
	if !done || said == "" {
		return loss{}, false
	}
	to := time.Now()
	if i, err := os.Stat(filepath.Join(s.orders.dir, fmt.Sprint("done-", f.order))); err == nil {
		to = i.ModTime()
	}
	return loss{f.from, to}, true
}

func (v *verdict) take(e *end, losses []loss, delayed func(from, to time.Time) time.Duration) {
	if v.right[e.analysis]+v.failed[e.analysis] == 0 {
		v.analyses = append(v.analyses, e.analysis)
	}
	v.slowest = max(v.slowest, e.to.Sub(e.from))
	text := fmt.Sprintf("%s, %s to %s: %v", e.analysis, e.from.Format("15:04:05.0"), e.to.Format("15:04:05.0"), e.err)
	switch {
	case e.err == nil:
		v.right[e.analysis]++
	case e.wrong:
		v.wrong = append(v.wrong, text)
	case e.hung():
		v.hung = append(v.hung, text)
	default:
		var last time.Time
		for _, l := range losses {
			if l.from.Before(e.to) && l.to.Add(feltFor).After(e.from) && l.to.After(last) {
				last = l.to
			}
		}
		if last.Before(e.from) && !last.IsZero() {
			last = e.from
		}
		late := e.to.Sub(last) - delayed(last, e.to)
		if last.IsZero() || !e.inWords() || late > failsWithin {
			v.unpermitted = append(v.unpermitted, text)
			return
		}
		v.failed[e.analysis]++
		v.reasons = append(v.reasons, text)
		v.latest = max(v.latest, late)
	}
}

// takeJournal finds a fault for each incident. An incident that continues under another leader is one incident, and
// each fault explains one.
func (s *storm) takeJournal(v *verdict, journal []clustertest.Sighting) {
	open := map[topology.NodeID]bool{}
	for _, e := range journal {
		switch {
		case e.Late: // its time is unknown, and another leader may have reported the same
			v.late++
		case e.Kind == core.Recovered:
			open[e.Node] = false
		case e.Kind == core.Suspected && !open[e.Node]:
			open[e.Node] = true
			v.incidents++
			if !s.explain(e) {
				v.unexplained = append(v.unexplained, fmt.Sprintf("%s %s: %s, silent for %v, told by %s", e.Heard.Format("15:04:05.0"), e.Node, e.Text,
					e.Silent, e.Leader))
			}
		}
	}
}

// explain finds a fault that has not explained another incident.
func (s *storm) explain(e clustertest.Sighting) bool {
	for _, f := range s.faults {
		if f.explains && f.node == e.Node && !f.from.After(e.Heard) && e.Heard.Before(f.to.Add(noticedWithin+s.delayed(f.from, e.Heard))) {
			f.explains = false
			return true
		}
	}
	return false
}

func (v *verdict) String() string {
	var out strings.Builder
	tab := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "fault\tinjected\tdata lost")
	for _, k := range allFaults {
		lost := ""
		if k == setBack || k == flipped || k == restored {
			lost = fmt.Sprint(v.effective[k])
		}
		fmt.Fprintf(tab, "%s\t%d\t%s\n", k, v.injected[k], lost)
	}
	fmt.Fprintln(tab, "\nsessions\tright\tfailed in words, data was lost")
	for _, a := range v.analyses {
		fmt.Fprintf(tab, "%s\t%d\t%d\n", a, v.right[a], v.failed[a])
	}
	_ = tab.Flush()
	fmt.Fprintf(&out, "\n%d wrong, %d hung, %d failed without a reason that permits it\n", len(v.wrong), len(v.hung), len(v.unpermitted))
	fmt.Fprintf(&out, "%d incidents in the medics' journals, %d healthy processes killed; %d entries came to light too late to judge\n",
		v.incidents, len(v.unexplained), v.late)
	fmt.Fprintf(&out, "slowest session %v; slowest failure %v after the loss\n", v.slowest.Round(time.Millisecond),
		v.latest.Round(time.Millisecond))
	for _, r := range v.reasons {
		fmt.Fprintln(&out, "failed in words:", r)
	}
	return out.String()
}
