package nodes

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/postmortem"
	"posta.dev/posta/topology"
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

// until calls the condition again and again until it is true.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestN9_WhatIsNotGivenUpKeepsItsCount: a node gives up one session, because it hung on that session or died of it too often. It keeps counting
// deaths for the other sessions.
func TestN9_WhatIsNotGivenUpKeepsItsCount(t *testing.T) {
	x := noted(t, postmortem.Deaths{Sessions: map[string]int{"a": 3, "b": 1}})
	if err := postmortem.WriteHung(x.node.DataDir, postmortem.Hung{Session: "c", Role: "joiner"}); err != nil {
		t.Fatal(err)
	}
	n := newNotes(x, never)
	n.settled()
	until(t, "the count is of session b alone", func() bool {
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
	until(t, "the count is removed", func() bool {
		d, err := postmortem.ReadDeaths(x.node.DataDir)
		return err == nil && len(d.Sessions) == 0
	})
}

// TestN9_ADiskThatHangsOverANoteDelaysNothing: a pipe without a writer stands for a disk that does not answer. Meanwhile the loop reports that the
// sessions have failed, and heartbeats continue.
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
	until(t, "the disk answers, and the goroutine ends", func() bool {
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
