package client

import (
	"context"
	"sync"
	"time"

	"posta/protocol"
)

// farewellTime bounds how long saying goodbye may take: somebody has pressed Ctrl-C.
const farewellTime = 2 * time.Second

// Cancel aborts the session at every input and output. It takes at most 2 s, also when ctx has ended; who does not answer in
// time finds out by the client's silence (limits.client_timeout).
func (c *Client) Cancel(ctx context.Context) { c.farewell(ctx, protocol.Cancel) }

// Finish closes the session at every input and output: its results are dropped. It takes at most 2 s; where it is not heard,
// results_ttl does the same.
func (c *Client) Finish(ctx context.Context) { c.farewell(ctx, protocol.Close) }

func (c *Client) farewell(ctx context.Context, word protocol.Ask) {
	if c.stage.Load() == unopened {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellTime)
	defer cancel()
	frame := (&protocol.Request{Type: word, Session: c.cfg.Session}).Append(nil)
	var wg sync.WaitGroup
	for _, l := range append(append([]*line(nil), c.inputs...), c.outputs...) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			// Any answer will do: a node that does not know the session has nothing to drop.
			_, _ = l.ask(ctx, frame)
		}()
	}
	wg.Wait()
	c.stage.Store(unopened)
}
