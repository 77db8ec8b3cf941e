package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// driver runs a session as package client does, over connections on which only what the test says happens.
type driver struct {
	t     *testing.T
	s     *Session
	now   time.Time
	began time.Time
	at    []string                    // endpoints, by connection
	under map[ConnID]protocol.Request // requests under way
	tries map[ConnID]uint64
	sent  []string // every try, as "endpoint type"
	wants []Want
}

const testTimeout = 2 * time.Second

func testConfig() Config {
	return Config{Entries: []string{"in1"}, Analysis: "bikes", Session: session.ID{7}, Token: session.Token{8}, Lanes: 2, Timeout: testTimeout,
		GiveUpAfter: time.Minute, Rand: rand.New(rand.NewPCG(1, 2))}
}

func newDriver(t *testing.T, cfg Config) *driver {
	d := &driver{t: t, now: time.Unix(1000, 0), under: map[ConnID]protocol.Request{}, tries: map[ConnID]uint64{}}
	d.began = d.now
	d.s = New(cfg, d.now)
	d.act()
	return d
}

// act carries out what the session requests.
func (d *driver) act() {
	o := d.s.Output()
	for _, x := range o.Dials {
		d.at = append(d.at, x.Endpoint)
	}
	for _, c := range o.Drops {
		delete(d.under, c)
	}
	for _, r := range o.Requests {
		d.under[r.Conn], d.tries[r.Conn] = r.Message, r.Try
		d.sent = append(d.sent, d.at[r.Conn]+" "+string(r.Message.Type))
	}
	d.wants = append(d.wants, o.Wants...)
}

// find returns the connection over which a node has got a request of a type.
func (d *driver) find(endpoint string, kind protocol.RequestType) (ConnID, bool) {
	for c := range ConnID(len(d.at)) {
		if q, ok := d.under[c]; ok && d.at[c] == endpoint && q.Type == kind {
			return c, true
		}
	}
	return 0, false
}

// request returns the request of a type that a node has got.
func (d *driver) request(endpoint string, kind protocol.RequestType) protocol.Request {
	d.t.Helper()
	c, ok := d.find(endpoint, kind)
	if !ok {
		d.t.Fatalf("after %v no %s is under way at %s, only %v", d.now.Sub(d.began), kind, endpoint, d.list())
	}
	return d.under[c]
}

func (d *driver) list() (all []string) {
	for c, q := range d.under {
		all = append(all, d.at[c]+" "+string(q.Type))
	}
	slices.Sort(all)
	return all
}

// answer lets a node answer a request of a type.
func (d *driver) answer(endpoint string, kind protocol.RequestType, reply protocol.Reply) {
	d.t.Helper()
	d.request(endpoint, kind)
	c, _ := d.find(endpoint, kind)
	delete(d.under, c)
	d.s.Reply(c, d.tries[c], reply, d.now)
	d.act()
}

// pass lets time pass, with all alarms. Meanwhile pings are answered, unless their input is mute.
func (d *driver) pass(span time.Duration, mute ...string) {
	d.t.Helper()
	end := d.now.Add(span)
	for range 10_000 {
		for c, q := range d.under {
			if q.Type == protocol.Ping && !slices.Contains(mute, d.at[c]) {
				d.answer(d.at[c], protocol.Ping, running)
				break
			}
		}
		at := d.s.Alarm()
		if at.IsZero() || at.After(end) {
			d.now = end
			return
		}
		if at.After(d.now) {
			d.now = at
		}
		d.s.Tick(d.now)
		d.act()
	}
	d.t.Fatal("the session wants to be woken without end")
}

// awaitPing lets time pass until an input is pinged.
func (d *driver) awaitPing(at string) {
	d.t.Helper()
	for range 2 * longestPing / (20 * time.Millisecond) {
		if _, pinged := d.find(at, protocol.Ping); pinged {
			return
		}
		d.pass(20*time.Millisecond, at)
	}
}

// count returns how often a request was sent to a node.
func (d *driver) count(endpoint string, kind protocol.RequestType) (n int) {
	for _, s := range d.sent {
		if s == endpoint+" "+string(kind) {
			n++
		}
	}
	return n
}

var (
	running = protocol.Reply{Type: protocol.OK, State: session.Running}
	fine    = protocol.Reply{Type: protocol.OK}
)

// about describes a cluster of so many inputs and outputs.
func about(inputs, outputs int) protocol.Reply {
	r := protocol.Reply{Type: protocol.About, Cluster: "test"}
	for i := range inputs {
		r.Inputs = append(r.Inputs, fmt.Sprintf("in%d", i+1))
	}
	for i := range outputs {
		r.Outputs = append(r.Outputs, fmt.Sprintf("out%d", i+1))
	}
	return r
}

func openedReply() protocol.Reply {
	return protocol.Reply{Type: protocol.Opened, State: session.Running, ClientTimeout: 8 * time.Second,
		Streams: []protocol.Stream{{Name: "stations", Reference: true}, {Name: "trips"}}, Queries: []string{"numbers"}}
}

// discovered returns a driver whose session knows its cluster.
func discovered(t *testing.T, cfg Config, inputs, outputs int) *driver {
	t.Helper()
	d := newDriver(t, cfg)
	d.s.Discover(d.now)
	d.act()
	d.answer("in1", protocol.Info, about(inputs, outputs))
	d.ends(nil)
	return d
}

// opened returns a driver whose session is open everywhere.
func opened(t *testing.T, cfg Config, inputs, outputs int) *driver {
	t.Helper()
	d := discovered(t, cfg, inputs, outputs)
	d.do(d.s.Open)
	for i := range inputs {
		d.answer(fmt.Sprintf("in%d", i+1), protocol.Open, openedReply())
	}
	d.ends(nil)
	return d
}

// uploaded returns a driver whose session has sent one chunk of each stream.
func uploaded(t *testing.T, cfg Config, inputs, outputs int) *driver {
	t.Helper()
	d := opened(t, cfg, inputs, outputs)
	d.do(d.s.Upload)
	for range 2 {
		d.chunk("x\n")
		d.acked()
		d.drain()
		for i := range inputs {
			d.answer(fmt.Sprintf("in%d", i+1), protocol.End, fine)
		}
	}
	d.ends(nil)
	return d
}

func (d *driver) do(begin func(time.Time)) {
	begin(d.now)
	d.act()
}

// chunk gives the first lane that wants one a chunk.
func (d *driver) chunk(data string) Want {
	d.t.Helper()
	if len(d.wants) == 0 {
		d.t.Fatal("no lane wants a chunk")
	}
	w := d.wants[0]
	d.wants = d.wants[1:]
	d.s.Chunk(w.Lane, Chunk{File: "a.csv", Header: []byte("h"), Line: 2, Data: []byte(data)}, d.now)
	d.act()
	return w
}

// acked answers all chunks under way.
func (d *driver) acked() {
	for c := range ConnID(len(d.at)) {
		if q, ok := d.under[c]; ok && q.Type == protocol.Chunk {
			d.answer(d.at[c], protocol.Chunk, protocol.Reply{Type: protocol.OK, Lane: q.Lane, Seq: q.Seq})
		}
	}
}

// drain tells all lanes that want a chunk that there is none.
func (d *driver) drain() {
	wants := d.wants
	d.wants = nil
	for _, w := range wants {
		d.s.Drained(w.Lane, d.now)
		d.act()
	}
}

// ends checks that the task has ended, and with which result.
func (d *driver) ends(want error) {
	d.t.Helper()
	if d.s.Pending() {
		d.t.Fatalf("after %v the task continues; under way are %v", d.now.Sub(d.began), d.list())
	}
	if err := d.s.Err(); want == nil && err != nil || want != nil && !isError(err, want) {
		d.t.Fatalf("the task ended with %v, want %v", err, want)
	}
}

// goesOn checks that the task has not ended.
func (d *driver) goesOn() {
	d.t.Helper()
	if !d.s.Pending() {
		d.t.Fatalf("after %v the task is over: %v", d.now.Sub(d.began), d.s.Err())
	}
}
