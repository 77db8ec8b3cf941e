package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/client"
	"posta.dev/posta/link"
	"posta.dev/posta/link/control"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
)

// cell is what a row of alice holds.
const cell = "alice's diagnosis"

// quoting is an analysis whose error quotes a cell, as SQL's does where a text is not a number.
func quoting() *analyses.Analysis {
	a := *bikes.New()
	a.Name = "quoting"
	a.NewJoiner = func(analyses.Args, analyses.Replica) (analyses.Joiner, error) {
		return nil, errors.New("cannot read " + cell + " as a number")
	}
	return &a
}

// TestS5_WatchersReadNoCells: the owner reads the whole error of its session. Somebody who may only watch, and asks and hears whatever
// there is, does not, and learns the code.
func TestS5_WatchersReadNoCells(t *testing.T) {
	dir, _ := data(t, 100)
	k := startKeyed(t)
	id := session.New()
	var mu sync.Mutex
	told := map[link.NodeID]bool{} // outputs whose heartbeats say that the session failed
	read := func(from, text string) {
		if strings.Contains(text, cell) {
			t.Errorf("from %s a watcher reads %q", from, text)
		}
	}
	for _, n := range k.topo.Nodes() {
		s, _ := keytest.Sub(t, k.wim, security.Control, n) // to everything
		for _, topic := range []string{control.TraceTopic(id), control.LinesTopic(n.ID)} {
			if err := s.Subscribe(topic); err != nil {
				t.Fatal(err)
			}
		}
		var heard sync.WaitGroup
		heard.Add(1)
		go func() {
			defer heard.Done()
			for batch := range s.C() {
				for _, r := range batch {
					mu.Lock()
					read("the control socket of "+string(n.ID), string(r.Msg[1]))
					if b, err := heartbeat.Decode(r.Msg[1]); err == nil && string(r.Msg[0]) == control.BeatTopic {
						for _, e := range b.Ended {
							told[n.ID] = told[n.ID] || e.ID == id && e.Failed
						}
					}
					mu.Unlock()
				}
			}
		}()
		t.Cleanup(func() { _ = s.Close(); heard.Wait() })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, err := client.Run(ctx, client.Config{Entries: k.entries(), Keys: k.alice, Analysis: "quoting", Dir: dir, Session: id})
	if err == nil || !strings.Contains(err.Error(), cell) {
		t.Fatalf("alice is told %v", err)
	}
	for said := false; !said; {
		mu.Lock()
		said = len(told) > 0
		mu.Unlock()
		select {
		case <-ctx.Done():
			t.Fatal("no heartbeat reports the session")
		case <-time.After(5 * time.Millisecond):
		}
	}
	codes := 0
	for _, at := range k.entries() {
		for _, what := range []protocol.RequestType{protocol.Info, protocol.Sessions, protocol.Ping, protocol.Results, protocol.Cancel,
			protocol.Close} {
			for _, token := range []session.Token{{}, session.NewToken()} {
				reply, err := client.RequestOnce(ctx, k.wim, at, protocol.Request{Type: what, Session: id, Token: token}, time.Minute)
				text := fmt.Sprintf("%+v %v", reply, err)
				read(fmt.Sprintf("%s of %s", what, at), text)
				if strings.Contains(text, "only its owner and operators are told why") {
					codes++
				}
			}
		}
	}
	if codes == 0 {
		t.Error("no node tells the watcher that the session failed")
	}
}
