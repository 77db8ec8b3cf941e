package nodes

import (
	"bytes"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/internal/watch"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

const never = 100 * 365 * 24 * time.Hour

func noted(t *testing.T, d postmortem.Deaths) *node {
	t.Helper()
	x := &node{cfg: Config{Log: slog.New(slog.DiscardHandler)}, node: topology.Node{DataDir: t.TempDir()}}
	if err := postmortem.WriteDeaths(x.node.DataDir, d); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestN9_WhatIsNotGivenUpKeepsItsCount: a node gives up one session, because it hung on that session or died of it too often. It keeps
// counting deaths for the other sessions.
func TestN9_WhatIsNotGivenUpKeepsItsCount(t *testing.T) {
	x := noted(t, postmortem.Deaths{Sessions: map[string]int{"a": 3, "b": 1}})
	if err := postmortem.WriteHung(x.node.DataDir, postmortem.Hung{Session: "c", Role: "joiner"}); err != nil {
		t.Fatal(err)
	}
	n := newNotes(x, never)
	n.settled()
	await.Until(t, "the count is of session b alone", func() bool {
		d, err := postmortem.ReadDeaths(x.node.DataDir)
		return err == nil && maps.Equal(d.Sessions, map[string]int{"b": 1})
	})
	n.stop()
	if _, hung, err := postmortem.ReadHung(x.node.DataDir); hung || err != nil {
		t.Errorf("the note of the session that it hung on is there: %v, %v", hung, err)
	}
}

// TestN9_ALongLifeEndsTheRow: sessions that the node has lived with for long are not a reason for its death, so their count is removed.
func TestN9_ALongLifeEndsTheRow(t *testing.T) {
	x := noted(t, postmortem.Deaths{Sessions: map[string]int{"a": 2}})
	n := newNotes(x, 0)
	defer n.stop()
	await.Until(t, "the count is removed", func() bool {
		d, err := postmortem.ReadDeaths(x.node.DataDir)
		return err == nil && len(d.Sessions) == 0
	})
}

// TestN9_ADiskThatHangsOverANoteDelaysNothing: a pipe without a writer stands for a disk that does not answer. Meanwhile the loop reports
// that the sessions have failed, and heartbeats continue.
func TestN9_ADiskThatHangsOverANoteDelaysNothing(t *testing.T) {
	x, m := beating(t, time.Hour, nil)
	count := filepath.Join(x.node.DataDir, "deaths")
	if err := syscall.Mkfifo(count, 0o600); err != nil {
		t.Fatal(err)
	}
	n := newNotes(x, never)
	said := make(chan struct{})
	go func() { // stands for the loop
		n.settled()
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(time.Minute):
		t.Fatal("the loop waits for the disk")
	}
	for i := range uint64(3) {
		x.beats.publish(heartbeat.Beat{Node: "joiner-1", State: heartbeat.Running, Commits: i + 1})
		m.await(t, "heard", func(b heartbeat.Beat) bool { return b.Commits == i+1 })
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		n.stop()
	}()
	await.Until(t, "the disk answers, and the goroutine ends", func() bool {
		if f, err := os.OpenFile(count, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil { // a reader that is waiting now reads the end of the file
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-stopped:
			return true
		default:
			return false
		}
	})
}

// TestN9_LongWorkIsNoted: the note of long work is there while the work goes on, and not afterwards.
func TestN9_LongWorkIsNoted(t *testing.T) {
	id := session.New()
	x, _ := beating(t, time.Hour, nil)
	n := newNotes(x, never)
	x.beats.notes.Store(n)
	work := x.watch.Enter(watch.Doing{Role: "joiner", Session: id, Stream: "trips"})
	await.Until(t, "the work is noted", func() bool {
		w, is, err := postmortem.ReadWorking(x.node.DataDir)
		return is && err == nil && w == postmortem.Working{Session: id.String(), Role: "joiner", Stream: "trips"}
	})
	x.watch.Leave(work)
	await.Until(t, "the note is removed", func() bool {
		_, is, err := postmortem.ReadWorking(x.node.DataDir)
		return !is && err == nil
	})
	if err := postmortem.WriteWorking(x.node.DataDir, postmortem.Working{Session: id.String()}); err != nil {
		t.Fatal(err)
	}
	x.beats.notes.Store(nil)
	n.stop()
	if _, is, err := postmortem.ReadWorking(x.node.DataDir); is || err != nil {
		t.Errorf("the process ends in order, and its note says that it died: %v", err)
	}
}

// TestN9_WhoeverKillsTheNode: a node that finds the note of long work for the third time, and a log in which the session has got no
// further, gives the session up.
func TestN9_WhoeverKillsTheNode(t *testing.T) {
	id, other := session.New(), session.New()
	x := noted(t, postmortem.Deaths{})
	log, err := wal.Open(x.node.DataDir, wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	x.log = log
	a := core.NewLogAnalysis(nil)
	at := link.LogIndex(0)
	about := func(s session.ID) {
		at++
		a.Add(at, bytes.Join((&record.Record{Inputs: []record.Input{{Op: record.Open, Session: s}}}).Encode(), nil))
	}
	about(id)
	for life, further := range []bool{false, false, true, false, false} {
		if about(other); further {
			about(id)
		}
		if err := postmortem.WriteWorking(x.node.DataDir, postmortem.Working{Session: id.String(), Role: "joiner"}); err != nil {
			t.Fatal(err)
		}
		lost := x.lost(a)
		if given := len(lost) == 1 && lost[0].Session == id; given != (life == 4) {
			t.Errorf("life %d: %+v", life, lost)
		}
		if again := x.lost(a); life < 4 && len(again) > 0 {
			t.Errorf("life %d: a start without a note gives up %+v", life, again)
		}
	}
}
