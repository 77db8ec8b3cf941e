package brokered

import (
	"log/slog"
	"sync"
	"time"
)

// Outage keeps the log readable while the broker is away: it logs the first failure, then one from time to time, and the end. While the
// outage lasts, it is one of the transport's troubles.
type Outage struct {
	log      *slog.Logger
	what     string // the broker and the connection to it
	broker   string
	troubles *troubles

	mu        sync.Mutex
	since     time.Time // when it began; zero without an outage
	logged    time.Time
	connected time.Time   // when the present connection was made
	stable    *time.Timer // ends the outage; nil without a connection
}

const (
	// stableAfter is how long a connection has to last before it ends an outage.
	stableAfter = 2 * time.Second
	logEvery    = 30 * time.Second
)

// newOutage returns the outage of one connection, "in" or "out", to a broker such as "RabbitMQ at 10.0.0.1:5672".
func newOutage(log *slog.Logger, broker, connection string, t *troubles) *Outage {
	return &Outage{log: log, what: broker + ", " + connection, broker: broker, troubles: t}
}

// Failed records a failure. err says what to do.
func (o *Outage) Failed(now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = now
	}
	o.troubles.say(o.what, "no way through "+o.broker+": "+err.Error(), time.Time{})
	if now.Sub(o.logged) < logEvery {
		return
	}
	o.logged = now
	o.log.Warn("no way through "+o.what+": nothing is lost, frames wait in this node's log, and it is tried again", "err", err,
		"since", o.since.Format(time.RFC3339))
}

// Connected reports that there is a connection. The outage ends unless disconnected follows soon.
func (o *Outage) Connected() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.connected = time.Now()
	o.stable = time.AfterFunc(stableAfter, func() { o.over(time.Now()) })
}

// disconnected reports that there is no connection, and returns whether the last one was stable. If there was no connection it does
// nothing.
func (o *Outage) disconnected() (stable bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stable == nil {
		return false
	}
	o.stable.Stop()
	o.stable = nil
	return time.Since(o.connected) >= stableAfter
}

// over ends the outage.
func (o *Outage) over(now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.troubles.Over(o.what)
	if o.since.IsZero() {
		return
	}
	o.log.Info(o.what+" is there again", "after", now.Sub(o.since).Round(time.Millisecond).String())
	o.since, o.logged = time.Time{}, time.Time{}
}
