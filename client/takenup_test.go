package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestSessionIsTakenUpAfterItsUpload: the same id goes straight to the results, without files.
func TestSessionIsTakenUpAfterItsUpload(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	var want map[string][]string
	cfg.Dir, want = dataDir(t, 100)
	cfg.Session, cfg.Token, cfg.KeepResults = session.New(), session.NewToken(), true
	if _, err := Run(during(t, 20*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	if len(f.one().dropped) > 0 {
		t.Errorf("KeepResults, and yet: %v", f.one().dropped)
	}
	chunks := f.count("input-1", protocol.Chunk)
	cfg.Dir, cfg.KeepResults = t.TempDir(), false
	answer, err := Run(during(t, 20*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, answer, want)
	if f.count("input-1", protocol.Chunk) != chunks {
		t.Error("chunks were sent again")
	}
}

func TestInterruptedUploadIsNotContinued(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 100)
	cfg.Session, cfg.Token = session.New(), session.NewToken()
	c, err := Dial(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := during(t, 10*time.Second)
	if err := c.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := RequestOnce(ctx, nil, f.inputs[0].endpoint, protocol.Request{Type: protocol.Chunk, Session: cfg.Session, Token: cfg.Token,
		Stream: "stations",
		Seq:    1, File: "a/stations.csv", Line: 2, Header: []byte("id,line"), Data: []byte("x,2\n")}, time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	if len(f.one().dropped) > 0 {
		t.Errorf("another run's session was dropped: %v", f.one().dropped)
	}
}

// TestR17_AClientWithoutTheTokenLeavesTheSessionAlone: it hears why, and says nothing more.
func TestR17_AClientWithoutTheTokenLeavesTheSessionAlone(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 100)
	cfg.Session = session.New()
	ctx := during(t, 10*time.Second)
	c, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, protocol.ErrInUse) {
		t.Errorf("got %v", err)
	}
	if got := f.one().dropped; len(got) > 0 || f.clients("input-2") != 1 {
		t.Errorf("another client's session was dropped: %v, or opened elsewhere", got)
	}
}

// TestOutputThatHasNotHeardOfTheSessionYet is asked again, because the inputs know it.
func TestOutputThatHasNotHeardOfTheSessionYet(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	f.late = 5
	cfg := f.config()
	var want map[string][]string
	cfg.Dir, want = dataDir(t, 50)
	answer, err := Run(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, answer, want)
}

func TestResultsThatExpired(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	f.expired = true
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 50)
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrExpired) {
		t.Errorf("got %v", err)
	}
}

// TestSessionOfAnotherRunCanBeListedAndCancelled by who knows its id.
func TestSessionOfAnotherRunCanBeListedAndCancelled(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Session = session.New()
	ctx := during(t, 10*time.Second)
	runner, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	if err := runner.Open(ctx); err != nil {
		t.Fatal(err)
	}
	cfg.Force = true
	other, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	list, err := other.Sessions(ctx)
	if err != nil || len(list) != 3 || list[0].Session != cfg.Session || list[0].Node != "input-1" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := other.Cancel(ctx); err != nil {
		t.Error(err)
	}
	if got := f.one().dropped; len(got) != 3 || got["output-1"] != protocol.Cancel {
		t.Errorf("heard %v", got)
	}
	f.outputs[0].stop()
	defer f.outputs[0].start()
	if err := other.Cancel(ctx); err == nil || !strings.Contains(err.Error(), f.outputs[0].endpoint) {
		t.Errorf("an output that is gone was not named: %v", err)
	}
	if list, err := other.Sessions(ctx); err == nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestAnAnswerIsDeliveredBeforeTheSessionIsClosed: what could not be delivered stays, and can be asked for again.
func TestAnAnswerIsDeliveredBeforeTheSessionIsClosed(t *testing.T) {
	full := errors.New("the disk is full")
	for _, outcome := range []error{nil, full} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Dir, _ = dataDir(t, 10)
		rows, dropped := 0, 0
		cfg.Deliver = func(_ context.Context, a *Answer) error {
			rows, dropped = a.Query("numbers").Len(), len(f.one().dropped)
			return outcome
		}
		_, err := Run(during(t, 10*time.Second), cfg)
		if !errors.Is(err, outcome) || errors.Is(err, ErrNotDelivered) != (outcome != nil) {
			t.Errorf("got %v, want %v", err, outcome)
		}
		want := protocol.Close
		if outcome != nil {
			want = ""
		}
		if got := f.one().dropped["output-1"]; got != want || rows != f.rows || dropped != 0 {
			t.Errorf("%v: the output heard %q, want %q; %d rows were delivered when %d nodes had heard of the end", outcome, got, want, rows,
				dropped)
		}
	}
}
