package brokered

import (
	"log/slog"
	"sync"
	"time"
)

// Outage keeps the log readable while the broker is away: the first failure is told, then one now and then, then the end.
type Outage struct {
	log  *slog.Logger
	what string

	mu    sync.Mutex
	since time.Time // zero while all is well
	told  time.Time
}

// Steady is how long a connection has to stand to be the end of an outage.
const Steady = 2 * time.Second

const tellOutageEvery = 30 * time.Second

// NewOutage speaks of what, such as "RabbitMQ at 10.0.0.1:5672".
func NewOutage(log *slog.Logger, what string) *Outage { return &Outage{log: log, what: what} }

// Failed takes a failure. err says what to do.
func (o *Outage) Failed(now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = now
	}
	if now.Sub(o.told) < tellOutageEvery {
		return
	}
	o.told = now
	o.log.Warn("no way through "+o.what+": nothing is lost, frames wait in this node's log, and it is tried again", "err", err,
		"since", o.since.Format(time.RFC3339))
}

// Over says that it works.
func (o *Outage) Over(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return
	}
	o.log.Info(o.what+" is there again", "after", now.Sub(o.since).Round(time.Millisecond).String())
	o.since, o.told = time.Time{}, time.Time{}
}
