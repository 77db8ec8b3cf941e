package output

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
)

// TestR16_HeartbeatsOfManyFailedSessions: 900 of them with long reasons once made a heartbeat of more than 1 MiB, which no peer accepts,
// and medics killed the output for its silence. Now each heartbeat is small, and each session is reported within a bounded number of
// heartbeats.
func TestR16_HeartbeatsOfManyFailedSessions(t *testing.T) {
	o := New(roletest.About())
	roletest.NewHost(o)
	const sessions = 900
	for i := range sessions {
		o.Drop(roletest.ID(fmt.Sprintf("s%d", i)), role.Outcome{Failed: true, Reason: strings.Repeat("why ", 275)})
	}
	o.Tick(noon)
	heard := map[session.ID]bool{}
	beats := sessions*1200/role.EndedBytes + 2
	for range beats {
		ended := o.Ended(role.EndedBytes)
		for _, e := range ended {
			heard[e.ID] = true
		}
		b := heartbeat.Beat{Node: link.NodeID("output-1"), State: heartbeat.Running, Ended: ended}
		if frame := b.Append(nil); len(frame) > role.EndedBytes+256 {
			t.Fatalf("R16: a heartbeat of %d bytes", len(frame))
		} else if _, err := heartbeat.Decode(frame); err != nil {
			t.Fatal(err)
		}
	}
	if len(heard) != sessions {
		t.Errorf("R16: after %d heartbeats inputs have heard of %d sessions", beats, len(heard))
	}
	late := roletest.ID("late")
	o.Drop(late, role.Outcome{Failed: true, Reason: "poison"})
	if next := o.Ended(role.EndedBytes); len(next) == 0 || next[0].ID != late {
		t.Error("what has just ended is not told first")
	}
}

// TestEndOf_ReportsTheSessionsAskedFor: at each step, an output reports to an input of its own node what it knows about the sessions it is
// asked for, and nothing about others.
func TestEndOf_ReportsTheSessionsAskedFor(t *testing.T) {
	o := New(roletest.About())
	roletest.NewHost(o)
	const sessions = 3 * recent
	var ids []session.ID
	for i := range sessions {
		id := roletest.ID(fmt.Sprintf("s%d", i))
		ids = append(ids, id)
		o.Drop(id, role.Outcome{Failed: true, Reason: "poison"})
		if i < recent {
			o.Forget(id, role.Asker{Identity: role.LocalOperator})
		}
	}
	all := o.Ended(1 << 30)
	if len(all) != sessions {
		t.Fatalf("heartbeats report %d sessions of %d", len(all), sessions)
	}
	slices.SortFunc(ids, func(a, b session.ID) int { return slices.Compare(a[:], b[:]) })
	if got := o.EndOf(ids); !reflect.DeepEqual(got, all) {
		t.Errorf("of all sessions it tells %d, and heartbeats %d", len(got), len(all))
	}
	for i, id := range ids {
		if got := o.EndOf([]session.ID{roletest.ID("unknown"), id}); !reflect.DeepEqual(got, all[i:i+1]) {
			t.Errorf("asked for %v it tells %+v", id, got)
		}
	}
}
