package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// explainTimeout is how long outputs are asked why an input does not know the session. The reason has to pass the pipeline first.
const explainTimeout = 2 * time.Second

// explainUnknown looks for the reason when an input does not know the session that is open there: as a rule its node came back with a
// new disk, which the nodes behind it notice and the outputs hear of (R8). Other errors it returns as they are.
func (c *Client) explainUnknown(ctx context.Context, err error) error {
	if !errors.Is(err, protocol.ErrUnknownSession) || c.mayBeForgotten(err) {
		return err
	}
	q := c.request(protocol.Results)
	_, outputs, _ := c.connections()
	for end := time.Now().Add(explainTimeout); time.Now().Before(end) && ctx.Err() == nil; _ = sleep(ctx, jitter(100*time.Millisecond)) {
		for _, output := range outputs {
			reply, err := output.requestOnce(ctx, q, protocol.Parts, c.cfg.Timeout)
			if err == nil && reply.State == session.Failed { // an output that does not know the session either explains nothing
				return c.failed(reply.Reason)
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // as a rule another request of the run has found the reason
	}
	return fmt.Errorf("%w; it was open there: the node lost its data, or somebody closed the session; run it again", err)
}
