package client

import (
	"context"
	"errors"
	"time"

	"posta.dev/posta/client/core"
)

// errClosed is returned by waiting calls when the client is closed.
var errClosed = errors.New("the client was closed")

const (
	// readEvery bounds the time between two looks at the clock; a longer time than longestPause means that this process did not run.
	readEvery    = 250 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// now returns the session's time. Time in which this process did not run does not count: the process heard nobody, and so the cluster was
// not silent. The caller holds the lock.
func (c *Client) now() time.Time {
	now, slept := c.clock.Read(time.Now())
	if slept {
		c.session.Woke(now)
	}
	return now
}

// event tells the session that something has happened, and does what the session wants done.
func (c *Client) event(tell func(now time.Time)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	tell(c.now())
	c.act()
	c.setAlarm()
}

// act does what the session wants done. The caller holds the lock.
func (c *Client) act() {
	o := c.session.Output()
	var failed error
	for _, d := range o.Dials {
		if err := c.connect(d); err != nil {
			failed = err
		}
	}
	for _, id := range o.Drops {
		c.lines[id].drop()
	}
	for i := range o.Requests {
		r := &o.Requests[i]
		c.lines[r.Conn].ask(r)
	}
	for _, f := range o.Files {
		c.lines[f.Conn].fileEnded(f.Taken)
	}
	for _, w := range o.Wants {
		c.lines[w.Conn].want(w)
	}
	if o.News {
		close(c.news)
		c.news = make(chan struct{})
	}
	if failed != nil {
		c.session.NoConnection(failed, c.now())
		c.act()
	}
}

// task begins a task and waits for its end.
func (c *Client) task(ctx context.Context, begin func(now time.Time)) error {
	c.event(begin)
	return c.awaitTask(ctx)
}

// awaitTask waits for the end of the task under way, and stops it when ctx ends.
func (c *Client) awaitTask(ctx context.Context) error {
	if err := c.await(ctx, func() bool { return !c.session.Pending() }); err != nil {
		c.event(func(now time.Time) { c.session.Stop(err, now) })
		return err
	}
	return c.taskErr()
}

func (c *Client) taskErr() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session.Err()
}

// await waits until done, which it calls under the lock, returns true. It returns an error if ctx ends or the client is closed first.
func (c *Client) await(ctx context.Context, done func() bool) error {
	for {
		c.mu.Lock()
		over, news := done(), c.news
		c.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.ctx.Done():
			return errClosed
		}
	}
}

// setAlarm makes sure that the timer goes off when the session's alarm is due. It moves the timer only to an earlier time, so that not
// every chunk sets it; a timer that goes off too early is set again then. The caller holds the lock.
func (c *Client) setAlarm() {
	at := c.session.Alarm()
	if at.IsZero() || !c.alarm.IsZero() && !at.Before(c.alarm) {
		return
	}
	c.alarm = at
	select {
	case c.sooner <- struct{}{}:
	default:
	}
}

// runAlarm reads the clock regularly, and ticks the session when its alarm is due.
func (c *Client) runAlarm() {
	defer c.wg.Done()
	timer := time.NewTimer(readEvery)
	defer timer.Stop()
	for {
		select {
		case <-c.sooner:
			timer.Reset(c.untilAlarm())
		case <-timer.C:
			c.event(func(now time.Time) {
				if !c.alarm.IsZero() && !c.alarm.After(now) {
					c.alarm = time.Time{}
					c.session.Files(c.filesRead(now))
					c.session.Tick(now)
				}
			})
			timer.Reset(c.untilAlarm())
		case <-c.ctx.Done():
			return
		}
	}
}

// untilAlarm returns how long the timer may wait.
func (c *Client) untilAlarm() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alarm.IsZero() {
		return readEvery
	}
	return min(c.clock.Until(c.alarm), readEvery)
}

// connect makes a connection for the session, and the line that drives it.
func (c *Client) connect(d core.Dial) error {
	l := &line{client: c, id: d.Conn, wake: make(chan struct{}, 1)}
	c.lines = append(c.lines, l)
	req, err := c.dial(d.Endpoint)
	if err != nil {
		return dialError(d.Endpoint, err)
	}
	l.endpoint, l.req = d.Endpoint, req
	c.wg.Add(1)
	go l.run()
	return nil
}
