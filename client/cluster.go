package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Client is one session at a cluster. Its methods are called one after the other, except for Progress, and for KeepAlive and
// Cancel, which may run beside the others.
type Client struct {
	cfg        Config
	fromCaller bool // the session's id: somebody may have opened it before
	dial       func(endpoint string) (requester, error)
	about      protocol.Reply // what the entry said of the cluster
	opened     protocol.Reply // what the first input said of the session
	stage      atomic.Int32   // where the session stands
	all        *ear
	retries    atomic.Uint64
	score      *score

	mu      sync.Mutex // for who runs beside the session's course, which alone changes what follows
	inputs  []*line    // for everything but chunks
	outputs []*line
	lanes   []*lane
	closers []requester
}

// The stages of a session, which decide what has to be said at the end.
const (
	unopened = iota
	touched  // an input may have opened it for us
	open     // it is ours
	sent     // every stream has ended at every input
)

// Dial asks the entries in turn until one tells where the cluster's inputs and outputs are. The client must be closed.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	return dialWith(ctx, cfg, dialZMQ)
}

func dialWith(ctx context.Context, cfg Config, dial func(string) (requester, error)) (*Client, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	fromCaller := cfg.Session != (session.ID{})
	if !fromCaller {
		cfg.Session = session.New()
	}
	c := &Client{cfg: cfg, fromCaller: fromCaller, dial: dial, all: newEar(), score: newScore(cfg.Session)}
	if err := c.meet(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Session returns the session's id.
func (c *Client) Session() session.ID { return c.cfg.Session }

// Info returns what the cluster said of itself: its name, nodes and analyses.
func (c *Client) Info() protocol.Reply { return c.about }

// Close closes the sockets. It says nothing to the cluster: that is Cancel's and Finish's.
func (c *Client) Close() error {
	c.mu.Lock()
	closers := c.closers
	c.closers = nil
	c.mu.Unlock()
	var errs []error
	for _, r := range closers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// meet finds an entry that answers, and opens a line to every input and output it names.
func (c *Client) meet(ctx context.Context) error {
	about, err := c.askAround(ctx)
	if err != nil {
		return err
	}
	if len(about.Inputs) == 0 || len(about.Outputs) == 0 {
		return fmt.Errorf("cluster %s has %d inputs and %d outputs; an analysis needs one of each", about.Cluster,
			len(about.Inputs), len(about.Outputs))
	}
	c.about = about
	return c.lay(about.Inputs, about.Outputs)
}

// lay opens lines to all inputs and outputs.
func (c *Client) lay(inputs, outputs []string) error {
	in, err := c.linesTo(inputs)
	if err != nil {
		return err
	}
	out, err := c.linesTo(outputs)
	if err != nil {
		return err
	}
	lanes, err := c.layLanes(in)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs, c.outputs, c.lanes = in, out, lanes
	return nil
}

// follow goes with a cluster that was changed while the session waited for its place, or for its results: what it said of itself
// before is not true any more. The old lines stay until the end; they cost a socket each.
func (c *Client) follow(inputs, outputs []string) (changed bool, err error) {
	if len(inputs) == 0 || len(outputs) == 0 || slices.Equal(inputs, c.about.Inputs) && slices.Equal(outputs, c.about.Outputs) {
		return false, nil
	}
	c.mu.Lock()
	c.about.Inputs, c.about.Outputs = inputs, outputs
	c.mu.Unlock()
	return true, c.lay(inputs, outputs)
}

// moved asks the first input where the outputs are, when none of those that are known answers.
func (c *Client) moved(ctx context.Context) error {
	frame := (&protocol.Request{Type: protocol.Info}).Append(nil)
	reply, err := c.inputs[0].askOnce(ctx, frame, c.cfg.Timeout)
	if err != nil || reply.Type != protocol.About {
		return nil // it may be about to start again; patience decides
	}
	_, err = c.follow(reply.Inputs, reply.Outputs)
	return err
}

// lines is a copy for who runs beside the session's course.
func (c *Client) lines() (inputs, outputs []*line, lanes []*lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.inputs), slices.Clone(c.outputs), slices.Clone(c.lanes)
}

// askAround asks every entry for one timeout, round and round, until one answers.
func (c *Client) askAround(ctx context.Context) (protocol.Reply, error) {
	entries, err := c.linesTo(c.cfg.Entries)
	if err != nil {
		return protocol.Reply{}, err
	}
	frame := (&protocol.Request{Type: protocol.Info}).Append(nil)
	for {
		silent := false
		var errs []error
		for _, l := range entries {
			reply, err := l.askOnce(ctx, frame, c.cfg.Timeout)
			switch {
			case ctx.Err() != nil:
				return protocol.Reply{}, context.Cause(ctx)
			case err == nil && reply.Type == protocol.About:
				return reply, nil
			case err == nil:
				err = surprise(l, reply)
			}
			silent = silent || errors.Is(err, errSilent)
			errs = append(errs, err)
		}
		c.retries.Add(1)
		switch {
		case !silent: // all answer, and none as a node does: waiting will not help
			return protocol.Reply{}, errors.Join(errs...)
		case entries[0].persist() != nil:
			return protocol.Reply{}, fmt.Errorf("%w at %s for %v; start one with `posta up`, or check the address", ErrNoCluster,
				strings.Join(c.cfg.Entries, ", "), c.cfg.Patience)
		}
	}
}

func (c *Client) linesTo(endpoints []string) ([]*line, error) {
	lines := make([]*line, len(endpoints))
	for i, endpoint := range endpoints {
		var err error
		if lines[i], err = c.lineTo(endpoint, newEar()); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (c *Client) lineTo(endpoint string, here *ear) (*line, error) {
	req, err := c.dial(endpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: endpoint %q: %w", ErrConfig, endpoint, err)
	}
	c.mu.Lock()
	c.closers = append(c.closers, req)
	c.mu.Unlock()
	return &line{endpoint: endpoint, req: req, turn: make(chan struct{}, 1), all: c.all, here: here,
		timeout: c.cfg.Timeout, patience: c.cfg.Patience, retries: &c.retries}, nil
}

// layLanes spreads the lanes over the inputs, at least one for each. A lane is a socket of its own, because a REQ socket
// has one request under way at most.
func (c *Client) layLanes(inputs []*line) (lanes []*lane, err error) {
	n := min(max(c.cfg.Lanes, len(inputs)), protocol.MaxLanes)
	for i := range n {
		input := i % len(inputs)
		l, err := c.lineTo(inputs[input].endpoint, inputs[input].here)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, &lane{line: l, id: uint32(i), input: input, session: c.cfg.Session})
	}
	return lanes, nil
}

// surprise is the error for a reply of a type that does not belong to the request.
func surprise(l *line, reply protocol.Reply) error {
	return fmt.Errorf("%s answers %q where something else was asked; do client and cluster have the same version? %w",
		l.endpoint, reply.Type, protocol.ErrInvalid)
}
