package status

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// TestStatus_Trouble: each trouble has one line, which names all nodes that have it. A silent node reports no trouble.
func TestStatus_Trouble(t *testing.T) {
	node := func(id topology.NodeID, age time.Duration, trouble string) monitor.Status {
		return monitor.Status{Node: topology.Node{ID: id}, Heard: true, Age: age,
			Beat: heartbeat.Beat{State: heartbeat.Running, Trouble: trouble}}
	}
	view := []monitor.Status{
		node("input-1", 0, "the broker is away"), node("joiner-1", 0, ""), node("joiner-2", 0, "the broker is away"),
		node("reducer-1", 2*monitor.SilentFor, "the broker is away"), node("output-1", 0, "no\x1b[2J room"),
	}
	want := []string{"trouble: input-1, joiner-2: the broker is away", `trouble: output-1: no\x1b[2J room`}
	if got := monitor.Remarks(view); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if j := nodeAsJSON(&view[0]); j.Trouble != "the broker is away" {
		t.Errorf("%+v", j)
	}
	if j := nodeAsJSON(&view[3]); j.Trouble != "" {
		t.Errorf("a silent node has trouble: %+v", j)
	}
}

// TestR18_StatusShowsDamagedFrames: damaged frames are shown only if there are any; JSON always has their number.
func TestR18_StatusShowsDamagedFrames(t *testing.T) {
	node := func(age time.Duration, damaged uint64) monitor.Status {
		return monitor.Status{Node: topology.Node{ID: "joiner-1"}, Heard: true, Age: age,
			Beat: heartbeat.Beat{State: heartbeat.Running, Damaged: damaged}}
	}
	view := []monitor.Status{node(0, 0), node(0, 3), node(2*monitor.SilentFor, 3)}
	lines := monitor.Remarks(view)
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "damaged: joiner-1: 3 frames since its start ") {
		t.Errorf("%q", lines)
	}
	for i, want := range []string{`"frames_damaged":0,`, `"frames_damaged":3,`} {
		if b, err := json.Marshal(nodeAsJSON(&view[i])); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s, %v", b, err)
		}
	}
	var out strings.Builder
	x := &command{Call: &call.Call{Out: &out}}
	if err := x.printStatus(&topology.Topology{}, view, nil, monitor.Medics{}); err != nil || !strings.Contains(out.String(), lines[0]+"\n") {
		t.Errorf("%s, %v", out.String(), err)
	}
}

// TestN9_StatusShowsWhatTakesLong: status shows what a node works on if the node has got nothing done for a while. It does not for a node
// that is busy for a moment only, or silent.
func TestN9_StatusShowsWhatTakesLong(t *testing.T) {
	node := func(age, stands time.Duration) monitor.Status {
		return monitor.Status{Node: topology.Node{ID: "joiner-1"}, Heard: true, Age: age, Beat: heartbeat.Beat{
			State: heartbeat.Running, MarkAge: stands, Role: "joiner", Session: session.ID{0xab}, Stream: "trips",
		}}
	}
	view := []monitor.Status{node(0, 12*time.Second), node(0, time.Second), node(2*monitor.SilentFor, time.Minute)}
	want := []string{"busy: joiner-1: nothing done for 12s: stage joiner, session ab000000-0000-0000-0000-000000000000, stream trips"}
	if got := monitor.Remarks(view); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if j := nodeAsJSON(&view[0]); j.MarkAgeMS != 12_000 || j.WorksIn != "joiner" || j.Stream != "trips" || j.Session == "" {
		t.Errorf("%+v", j)
	}
	for _, i := range []int{1, 2} {
		if j := nodeAsJSON(&view[i]); j.MarkAgeMS != 0 || j.Session != "" {
			t.Errorf("%+v", j)
		}
	}
}

// TestStatus_WhatRuns: each running session has a line with its statement, whose control characters are escaped. If there are too many
// sessions, the rest is a number.
func TestStatus_WhatRuns(t *testing.T) {
	running := []monitor.Session{
		{ID: session.ID{1}, Analysis: "sql", Age: 3 * time.Second, Bytes: 1 << 20, Owner: "ann",
			Asks: "pass 2, the last one, of: SELECT '\x1b[2J'"},
		{ID: session.ID{2}, Analysis: "bikes"},
		{ID: session.ID{3}, Analysis: "bikes", FilesRead: 42, FilesSize: 100, FilesLeft: 185 * time.Second},
	}
	want := []string{
		`session 01000000-0000-0000-0000-000000000000: sql, runs for 3.0s, 1.0 MiB, of ann: pass 2, the last one, of: SELECT '\x1b[2J'`,
		`session 02000000-0000-0000-0000-000000000000: bikes, runs for 0ms, 0 B`,
		`session 03000000-0000-0000-0000-000000000000: bikes, runs for 0ms, 0 B, files 42%, ETA 3m10s`,
	}
	if got := sessionLines(running); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := sessionLines(make([]monitor.Session, mostRunning+2)); len(got) != mostRunning+1 ||
		got[mostRunning] != "and 2 sessions more that run: posta sessions" {
		t.Errorf("%q", got)
	}
	b, err := json.Marshal(runningAsJSON(running))
	if err != nil || !strings.Contains(string(b), `"owner":"ann","asks":"pass 2`) || strings.Contains(string(b), `"owner":""`) ||
		strings.Count(string(b), `"files_read":42,"files_size":100,"left_ms":185000`) != 1 || strings.Count(string(b), "files_size") != 1 {
		t.Errorf("%s, %v", b, err)
	}
}
