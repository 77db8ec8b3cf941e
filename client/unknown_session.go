package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// lostPatience is how long outputs are asked why an input forgot the session. The news has to come down the pipeline.
const lostPatience = 2 * time.Second

// lost looks for the reason when an input does not know the session that is open there: as a rule its node came back with a
// new disk, which the nodes behind it notice and the outputs hear of (R8). Other errors it returns as they are.
func (c *Client) lost(ctx context.Context, err error) error {
	if !errors.Is(err, protocol.ErrUnknownSession) || c.over(err) {
		return err
	}
	frame := (&protocol.Request{Type: protocol.Results, Session: c.cfg.Session}).Append(nil)
	_, outputs, _ := c.lines()
	for end := time.Now().Add(lostPatience); time.Now().Before(end) && ctx.Err() == nil; sleep(ctx, jitter(100*time.Millisecond)) {
		for _, output := range outputs {
			reply, _ := output.askOnce(ctx, frame, c.cfg.Timeout) // an output that does not know either is no answer
			if reply.Type == protocol.Parts && reply.State == session.Failed {
				return c.failed(reply.Reason)
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // as a rule another request of the run has found the reason
	}
	return fmt.Errorf("%w; it was open there: the node lost its data, or somebody closed the session; run it again", err)
}
