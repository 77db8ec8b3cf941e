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
	fromCaller bool // the session's id: it may have been opened before
	dial       func(endpoint string) (requester, error)
	info       protocol.Reply         // what the entry said of the cluster
	opened     protocol.Reply         // what the first input said of the session
	phase      atomic.Int32           // of the session, see below
	ended      atomic.Pointer[string] // the last stream whose end every input has acknowledged; pings say it (R14)
	lastReply  *lastReply             // of any node
	retries    atomic.Uint64
	counters   *counters
	warnings   *warnings

	mu      sync.Mutex // guards what follows, which only the session's own goroutine changes
	inputs  []*conn    // for everything but chunks
	outputs []*conn
	lanes   []*lane
	closers []requester
}

// The phases of a session. The phase decides what has to be said at the end.
const (
	phaseNew       = iota
	phaseMaybeOpen // an input may have opened it for us
	phaseOpen      // it is ours
	phaseUploaded  // every stream has ended at every input
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
	if cfg.Token == (session.Token{}) && !cfg.Force {
		cfg.Token = session.NewToken()
	}
	c := &Client{cfg: cfg, fromCaller: fromCaller, dial: dial, lastReply: newLastReply(), counters: newCounters(cfg.Session),
		warnings: &warnings{tell: cfg.OnWarning}}
	if err := c.discover(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Session returns the session's id.
func (c *Client) Session() session.ID { return c.cfg.Session }

// Info returns what the cluster said of itself: its name, nodes and analyses.
func (c *Client) Info() protocol.Reply { return c.info }

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

// discover finds an entry that answers, and opens a connection to every input and output it names.
func (c *Client) discover(ctx context.Context) error {
	about, err := c.askEntries(ctx)
	if err != nil {
		return err
	}
	if len(about.Inputs) == 0 || len(about.Outputs) == 0 {
		return fmt.Errorf("cluster %s has %d inputs and %d outputs; an analysis needs one of each", about.Cluster,
			len(about.Inputs), len(about.Outputs))
	}
	c.info = about
	return c.connectAll(about.Inputs, about.Outputs)
}

// connectAll opens connections to all inputs and outputs.
func (c *Client) connectAll(inputs, outputs []string) error {
	in, err := c.connectTo(inputs)
	if err != nil {
		return err
	}
	out, err := c.connectTo(outputs)
	if err != nil {
		return err
	}
	lanes, err := c.openLanes(in)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputs, c.outputs, c.lanes = in, out, lanes
	return nil
}

// updateEndpoints follows a cluster that was changed while the session waited for admission, or for its results. The old connections
// stay open until the end; they cost a socket each.
func (c *Client) updateEndpoints(inputs, outputs []string) (changed bool, err error) {
	if len(inputs) == 0 || len(outputs) == 0 || slices.Equal(inputs, c.info.Inputs) && slices.Equal(outputs, c.info.Outputs) {
		return false, nil
	}
	c.mu.Lock()
	c.info.Inputs, c.info.Outputs = inputs, outputs
	c.mu.Unlock()
	return true, c.connectAll(inputs, outputs)
}

// refreshEndpoints asks the first input where the outputs are, when none of those that are known answers.
func (c *Client) refreshEndpoints(ctx context.Context) error {
	reply, err := c.inputs[0].requestOnce(ctx, protocol.Request{Type: protocol.Info}, protocol.About, c.cfg.Timeout)
	if err != nil {
		return nil // it may be about to start again; GiveUpAfter decides
	}
	_, err = c.updateEndpoints(reply.Inputs, reply.Outputs)
	return err
}

// connections returns copies, for goroutines beside the session's own.
func (c *Client) connections() (inputs, outputs []*conn, lanes []*lane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.inputs), slices.Clone(c.outputs), slices.Clone(c.lanes)
}

// askEntries asks every entry for one timeout, round and round, until one answers.
func (c *Client) askEntries(ctx context.Context) (protocol.Reply, error) {
	entries, err := c.connectTo(c.cfg.Entries)
	if err != nil {
		return protocol.Reply{}, err
	}
	for {
		silent := false
		var errs []error
		for _, l := range entries {
			reply, err := l.requestOnce(ctx, protocol.Request{Type: protocol.Info}, protocol.About, c.cfg.Timeout)
			switch {
			case ctx.Err() != nil:
				return protocol.Reply{}, context.Cause(ctx)
			case err == nil:
				return reply, nil
			}
			silent = silent || errors.Is(err, errSilent)
			errs = append(errs, err)
		}
		c.retries.Add(1)
		switch {
		case !silent: // all answer, and none as a node does: waiting will not help
			return protocol.Reply{}, errors.Join(errs...)
		case entries[0].giveUp() != nil:
			return protocol.Reply{}, fmt.Errorf("%w at %s for %v; start one with `posta up`, or check the address", ErrNoCluster,
				strings.Join(c.cfg.Entries, ", "), c.cfg.GiveUpAfter)
		}
	}
}

func (c *Client) connectTo(endpoints []string) ([]*conn, error) {
	lines := make([]*conn, len(endpoints))
	for i, endpoint := range endpoints {
		var err error
		if lines[i], err = c.connect(endpoint, newLastReply()); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (c *Client) connect(endpoint string, here *lastReply) (*conn, error) {
	req, err := c.dial(endpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: endpoint %q: %w", ErrConfig, endpoint, err)
	}
	c.mu.Lock()
	c.closers = append(c.closers, req)
	c.mu.Unlock()
	return &conn{endpoint: endpoint, req: req, turn: make(chan struct{}, 1), clusterReply: c.lastReply, ownReply: here,
		timeout: c.cfg.Timeout, giveUpAfter: c.cfg.GiveUpAfter, retries: &c.retries}, nil
}

// openLanes spreads the lanes over the inputs, at least one for each. A lane is a socket of its own, because a REQ socket
// has one request under way at most.
func (c *Client) openLanes(inputs []*conn) (lanes []*lane, err error) {
	n := min(max(c.cfg.Lanes, len(inputs)), protocol.MaxLanes)
	for i := range n {
		input := i % len(inputs)
		l, err := c.connect(inputs[input].endpoint, inputs[input].ownReply)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, &lane{conn: l, id: uint32(i), input: input, request: c.request(protocol.Chunk)})
	}
	return lanes, nil
}
