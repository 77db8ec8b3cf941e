package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/resume"
	"posta.dev/posta/internal/awake"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Client is one session at a cluster. Its methods must be called one after the other, except for Progress and Cancel, which may run at the
// same time as others. From Open on, the client keeps the session alive until Finish, Cancel or Close.
//
// It runs a core.Session: under the lock it tells each event to the session, and does at once what the session wants done. A goroutine that
// owns the session was rejected, because each chunk would have to be passed to that goroutine and back.
type Client struct {
	cfg      Config
	given    bool // the caller gave the session's id, so the session may have been opened before
	dial     func(endpoint string) (requester, error)
	reading  reading
	had      *resume.Taken // what the cluster has of a session that is resumed; else nil
	warnings *warnings
	notes    *warnings
	partial  atomic.Bool // Config.Head left out some of the input

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // of the lines and the alarm

	mu      sync.Mutex // guards what follows
	session *core.Session
	lines   []*line // by core.ConnID
	sending *upload
	news    chan struct{} // closed and replaced when a task may have ended
	clock   awake.Clock   // the session's time, which stands still while this process does not run
	alarm   time.Time     // when the session is ticked next, by clock; zero if it is not
	doing   State
	rows    uint64 // of answers received

	sooner chan struct{} // alarm was set
}

// Dial asks the entries in turn until one answers with the cluster's inputs and outputs. The caller must close the client.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	return dialWith(ctx, cfg, dialerOf(&cfg))
}

func dialWith(ctx context.Context, cfg Config, dial func(string) (requester, error)) (*Client, error) {
	cfg, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	given := cfg.Session != (session.ID{})
	if !given {
		cfg.Session = session.New()
	}
	reopens := given && cfg.Token != (session.Token{})
	if cfg.Token == (session.Token{}) && !cfg.Force {
		cfg.Token = session.NewToken()
	}
	c := &Client{cfg: cfg, given: given, dial: dial, warnings: &warnings{tell: cfg.OnWarning}, notes: &warnings{tell: cfg.OnNote},
		news: make(chan struct{}), doing: Connecting, sooner: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.clock = awake.NewClock(longestPause)
	now, _ := c.clock.Read(time.Now())
	c.session = core.New(core.Config{
		Entries: cfg.Entries, Analysis: cfg.Analysis, Params: cfg.Params, Plan: cfg.Plan, Session: cfg.Session, Token: cfg.Token,
		Reopens: reopens, Takeover: cfg.Takeover, Resume: cfg.Resume, NoWait: cfg.NoWait,
		Named: cfg.Keys != nil,
		Lanes: cfg.Lanes, Timeout: cfg.Timeout, GiveUpAfter: cfg.GiveUpAfter, Rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
	}, now)
	c.wg.Add(1)
	go c.runAlarm()
	if err := c.task(ctx, func(now time.Time) { c.session.Discover(now) }); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Session returns the session's id.
func (c *Client) Session() session.ID { return c.cfg.Session }

// Info returns what the cluster said of itself: its name, nodes and analyses.
func (c *Client) Info() protocol.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session.About()
}

// Close closes the sockets and awaits all goroutines. It tells the cluster nothing: Cancel and Finish do that.
func (c *Client) Close() error {
	c.cancel()
	c.wg.Wait()
	var errs []error
	for _, l := range c.lines {
		if l.req != nil {
			errs = append(errs, l.req.Close())
		}
		l.req = nil
	}
	return errors.Join(errs...)
}

// Open opens the session at every input, and waits while the cluster is busy, unless Config.NoWait.
func (c *Client) Open(ctx context.Context) error {
	err := c.task(ctx, func(now time.Time) { c.session.Open(now) })
	if c.cfg.OnOpened != nil && c.phase() > core.NotOpen {
		c.cfg.OnOpened(c.cfg.Session)
	}
	if err != nil {
		return err
	}
	c.reading.begin(c.opened().Streams)
	return nil
}

func (c *Client) opened() protocol.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session.Opened()
}

func (c *Client) phase() core.Phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session.Phase()
}

// Results asks for the answers part by part until they are complete. Any output can answer; if one is silent, Results asks the next one. It
// may be called again after an error.
func (c *Client) Results(ctx context.Context) (*Answer, error) {
	in := newAssembler(&c.cfg, c.opened().Queries)
	c.event(func(now time.Time) {
		c.doing = Computing
		c.session.Results(now)
	})
	for {
		var rows []core.Rows
		err := c.await(ctx, func() bool {
			rows = c.session.Rows()
			return len(rows) > 0 || !c.session.Pending()
		})
		switch {
		case err != nil:
		case len(rows) == 0:
			return in.done(c.taskErr())
		default:
			err = in.take(rows)
		}
		if err != nil {
			c.event(func(now time.Time) { c.session.Stop(err, now) })
			return nil, err
		}
		c.event(func(now time.Time) {
			c.rows += in.news
			c.session.Taken(now)
		})
	}
}

// Cancel aborts the session at every input and output, if this client opened it (or Config.Force is set). It takes at most 2 s, even if ctx
// has ended; the error names the nodes that did not answer in time. Those nodes give the session up when the client has been silent for
// limits.client_timeout. The error is protocol.ErrFinished if an output has the session's answers.
func (c *Client) Cancel(ctx context.Context) error {
	return c.tell(ctx, func(now time.Time) { c.session.Tell(protocol.Cancel, c.cfg.Force, now) })
}

// Finish closes the session at every input and output: its results are dropped. It takes at most 15 s; the error names the nodes that did
// not answer in time. They drop the results after results_ttl.
func (c *Client) Finish(ctx context.Context) error {
	return c.tell(ctx, func(now time.Time) { c.session.Tell(protocol.Close, c.cfg.Force, now) })
}

// tell ends the session at all nodes; the session bounds how long that takes.
func (c *Client) tell(ctx context.Context, begin func(now time.Time)) error {
	c.event(begin)
	var told error
	err := c.await(context.WithoutCancel(ctx), func() (done bool) {
		done, told = c.session.Told()
		return done
	})
	return errors.Join(err, told)
}

// Sessions asks every input and output once which sessions it has. A session is listed once for each node that knows it. If some nodes did
// not answer, the answers of the others are returned beside the error.
func (c *Client) Sessions(ctx context.Context) (all []protocol.SessionInfo, err error) {
	c.event(func(now time.Time) { c.session.List(now) })
	var listed error
	err = c.await(ctx, func() (done bool) {
		done, all, listed = c.session.Listed()
		return done
	})
	return all, errors.Join(err, listed)
}
