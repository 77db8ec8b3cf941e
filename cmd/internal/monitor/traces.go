package monitor

import (
	"context"
	"errors"
	"slices"
	"time"

	nodecontrol "posta.dev/posta/link/control"
	"posta.dev/posta/nodes/trace"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Traced is a node's answer about a session.
type Traced struct {
	Node     topology.Node
	Heard    bool // it was heard at all
	Answered bool
	Report   trace.Report
	At       time.Time     // when the node answered, by the clock of this process: the middle between question and answer
	Off      time.Duration // the possible error of At
}

// Begin returns when the session came to the node, by the clock of this process.
func (t *Traced) Begin() time.Time { return t.At.Add(-t.Report.Trace.Begin) }

// End returns when the session left the node; for a session that runs, when the node answered.
func (t *Traced) End() time.Time { return t.At.Add(-t.Report.Trace.End) }

type traceTable struct {
	topic string
	asked time.Time
	all   []Traced
}

func (t *traceTable) take(topic string, payload []byte, from topology.NodeID, now time.Time) {
	i := slices.IndexFunc(t.all, func(x Traced) bool { return x.Node.ID == from })
	if i < 0 {
		return
	}
	x := &t.all[i]
	x.Heard = true
	if topic != t.topic {
		return
	}
	off := now.Sub(t.asked) / 2
	r, err := trace.DecodeReport(payload)
	if err != nil || nodecontrol.TraceTopic(r.Session) != topic || x.Answered && x.Off <= off {
		return // this answer comes from another version of the program, or is less exact
	}
	x.Answered, x.Report, x.Off, x.At = true, r, off, now.Add(-off)
}

func (t *traceTable) View(time.Time) []Traced { return slices.Clone(t.all) }

const (
	connectAtMost = 600 * time.Millisecond // for the first heartbeats, so that the question finds all nodes connected
	askAgain      = 300 * time.Millisecond // a node whose loop is busy drops a question
)

// AskForTraces asks all nodes where the time of a session went, and returns when all have answered or ctx ends. keys are those of the
// asker; nil in a cluster without keys. refused is the error of Listener.Refused.
func AskForTraces(ctx context.Context, nodes []topology.Node, keys *security.Keys, id session.ID) (all []Traced, refused, err error) {
	t := &traceTable{topic: nodecontrol.TraceTopic(id)}
	for _, n := range nodes {
		t.all = append(t.all, Traced{Node: n})
	}
	l, err := listen[[]Traced]("traces", nodes, keys, security.Node, t, heartbeatTopic)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		refused = l.Refused()
		err = errors.Join(err, l.Close())
	}()
	wait := func(most time.Duration, of func(*Traced) bool) bool {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		all, err = l.Until(ctx, func(v []Traced) (bool, error) {
			return !slices.ContainsFunc(v, func(x Traced) bool { return !of(&x) }), nil
		})
		return err == nil
	}
	wait(connectAtMost, func(x *Traced) bool { return x.Heard })
	for ctx.Err() == nil {
		l.mu.Lock()
		t.asked = time.Now()
		l.mu.Unlock()
		if err = l.sub.Subscribe(t.topic); err != nil {
			return nil, nil, err
		}
		if wait(askAgain, func(x *Traced) bool { return x.Answered }) {
			break
		}
	}
	return all, nil, nil
}
