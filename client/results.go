package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Results asks for the answers part by part until they are complete. Any output can answer; a silent one is left for the
// next. It may be called again after an error.
func (c *Client) Results(ctx context.Context) (*Answer, error) {
	c.counters.state(Computing)
	in, no := newAssembler(c), newVerdicts()
	for at := 0; ; {
		output := c.outputs[at%len(c.outputs)]
		reply, err := c.askResults(ctx, output, in.after)
		refused := (*protocol.Error)(nil)
		switch {
		case err == nil && reply.State == session.Failed:
			no.hearsNo(output.endpoint, c.failed(reply.Reason))
		case err == nil:
			no.hears(output.endpoint)
			if done, err := c.takeParts(in, reply); done || err != nil {
				return in.answer, err
			}
			continue
		case errors.Is(err, errSilent), errors.Is(err, protocol.ErrWrongNode):
			if err := c.giveUp(err); err != nil {
				return nil, err
			}
			c.retries.Add(1)
			no.hearsNothing(output.endpoint)
			if (at+1)%len(c.outputs) == 0 {
				if err := c.refreshEndpoints(ctx); err != nil {
					return nil, err
				}
			}
		case errors.Is(err, protocol.ErrUnknownSession):
			if err := c.stillKnown(ctx, no, output, err, reply); err != nil {
				return nil, err
			}
		case errors.As(err, &refused):
			no.hearsNo(output.endpoint, fmt.Errorf("results of session %s from %s: %w", c.cfg.Session, output.endpoint, err))
		default:
			return nil, fmt.Errorf("results of session %s from %s: %w", c.cfg.Session, output.endpoint, err)
		}
		if why := no.conclusion(c.outputs); why != nil {
			return nil, why
		}
		at++
		in.restart()
	}
}

func (c *Client) askResults(ctx context.Context, output *conn, after uint64) (protocol.Reply, error) {
	// How long the output is asked to wait for something new. A new part is answered at once, so this only decides how soon a
	// silent output is noticed and how many empty replies a long computation costs.
	poll := min(c.cfg.Timeout, protocol.LongestPoll)
	q := c.request(protocol.Results)
	q.After, q.Wait = after, poll
	return output.requestOnce(ctx, q, protocol.Parts, poll+c.cfg.Timeout)
}

func (c *Client) takeParts(in *assembler, reply protocol.Reply) (done bool, err error) {
	for i := range reply.Parts {
		if err := in.take(&reply.Parts[i]); err != nil {
			return true, err
		}
	}
	return reply.Complete, nil
}

// giveUp is for a request that any output can answer: it gives up when nothing answers, outputs or inputs.
func (c *Client) giveUp(silent error) error {
	if c.cfg.GiveUpAfter >= 0 && c.lastReply.silence() > c.cfg.GiveUpAfter {
		return fmt.Errorf("%w at %s for %v; what was sent is safe, ask again for session %s: %w", ErrNoCluster,
			strings.Join(c.info.Outputs, ", "), c.cfg.GiveUpAfter, c.cfg.Session, silent)
	}
	return nil
}

// stillKnown decides what an output means that does not know the session. Before the first frame of a session has come down
// the pipeline it cannot; the inputs know every session that is open, so they are asked. When they say that it is over an output has had
// its answer, and one that knows nothing may have lost it.
func (c *Client) stillKnown(ctx context.Context, no *verdicts, output *conn, unknown error, reply protocol.Reply) error {
	state, err := c.ping(ctx, c.inputs[0])
	if err != nil {
		return errors.Join(unknown, err)
	}
	if state == session.Done {
		no.hearsNo(output.endpoint, fmt.Errorf("no output has the answers of session %s any more; run it again under another id: %w", c.cfg.Session, unknown))
	} else {
		no.hears(output.endpoint)
	}
	pause := 100 * time.Millisecond
	if reply.Err.RetryAfter > 0 {
		pause = reply.Err.RetryAfter
	}
	return sleep(ctx, jitter(pause))
}
