package core

import "time"

// Incident is what the journal reports about one failure.
type Incident struct {
	Node        NodeID
	Term        Term // in which it was detected
	At          time.Time
	Cause       string
	InARow      int
	Silent      time.Duration // how long the target had been silent: up to a heartbeat longer than it had failed
	Restarts    int
	Found       bool          // something else had restarted it
	Restart     time.Duration // from detection to the last start
	Recovery    time.Duration // from the last start until it worked again
	Incarnation uint64        // the incarnation that came back
	Open        bool
	Trouble     string // why a restart failed
	restarted   time.Time
}

// Total is the time from the last sign of life until it worked again.
func (i *Incident) Total() time.Duration { return i.Silent + i.Restart + i.Recovery }

// Incidents returns the incidents of the journal, oldest first. An incident that one leader left open continues under the next one.
func Incidents(entries []Entry) []Incident {
	var all []Incident
	open := map[NodeID]int{}
	for i := range entries {
		e := &entries[i]
		at, isOpen := open[e.Node]
		if !isOpen {
			if e.Kind != Suspected {
				continue
			}
			at = len(all)
			open[e.Node] = at
			all = append(all, Incident{Node: e.Node, Term: e.Term, At: e.At, Cause: e.Text, InARow: e.InARow, Silent: e.Silent, Open: true})
		}
		all[at].take(e)
		if e.Kind == Recovered {
			delete(open, e.Node)
		}
	}
	return all
}

func (i *Incident) take(e *Entry) {
	switch e.Kind {
	case Suspected:
		i.InARow = max(i.InARow, e.InARow)
	case Restarted:
		i.Restarts++
		i.Restart, i.restarted = e.At.Sub(i.At), e.At
		if e.Text != "" {
			i.Cause = e.Text
		}
	case Adopted:
		i.Found = true
		i.Restart, i.restarted = e.At.Sub(i.At), e.At
	case Missed:
		i.Trouble = e.Text
	case Recovered:
		i.Incarnation, i.Open = e.Incarnation, false
		if i.restarted.IsZero() {
			i.restarted = i.At
		}
		i.Recovery = e.At.Sub(i.restarted)
	}
}
