package e2e

import (
	"errors"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// TestR17_TwoClientsOfOneID: the admitted client gets its right answer, and the other one an error. Before sessions had
// a token, one answer in seven was wrong.
func TestR17_TwoClientsOfOneID(t *testing.T) {
	rounds := 12
	if *long {
		rounds = 120
	}
	d := generated(t, 2000)
	c := start(t, topology.Variant{Replicas: map[string]int{"input": 2}})
	ctx := deadline(t)
	for round := range rounds {
		cfg := client.Config{Entries: c.topo.EntryPoints(), Dir: d.dir, Session: session.New(), KeepResults: true}
		d.config(&cfg)
		type outcome struct {
			got []byte
			err error
		}
		outcomes := make(chan outcome, 2)
		for range 2 {
			go func() {
				a, err := client.Run(ctx, cfg)
				var got []byte
				if err == nil {
					got = truth.Queries(t, a)
				}
				outcomes <- outcome{got, err}
			}()
		}
		answers := 0
		for range 2 {
			switch o := <-outcomes; {
			case o.err == nil:
				answers++
				d.check(t, o.got)
			case !errors.Is(o.err, protocol.ErrInUse) && !errors.Is(o.err, protocol.ErrFinished):
				t.Errorf("round %d: a client hears %v", round, o.err)
			}
		}
		if answers != 1 {
			t.Errorf("round %d: %d clients have an answer", round, answers)
		}
	}
}
