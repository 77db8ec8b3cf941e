package trace

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// Report is a node's answer about one session. All times except durations are ages: how long before the answer something happened.
type Report struct {
	Session session.ID
	Life    time.Duration // how long the node has been recording: since its process opened its log
	Ended   int           // remembered sessions that have left the node
	Oldest  time.Duration // when the first of them left; 0 if there is none
	Trace   *Trace        // nil: the node does not know the session
}

// Full reports whether the node has begun to forget sessions.
func (r *Report) Full() bool { return r.Ended >= Kept }

// Trace is what a node has recorded of a session.
type Trace struct {
	Analysis  string
	ID        session.Trace // zero: the client gave none
	Recovered bool          // the session began in an earlier incarnation of the node, of whose time nothing is known
	Running   bool
	Failed    bool
	Begin     time.Duration // when it came to the node, or when the node's present incarnation began
	End       time.Duration // when it left; 0 while it runs
	States    Cell          // their sum is Begin - End
	Width     time.Duration // time that a cell of Line covers
	Line      []Cell        // the states over time; the last cell may cover less
	Roles     []RoleTime
	In, Out   []Queue // of the links that carried frames of it
	Commits   Durations
	Syncs     Durations
}

// RoleTime is how long a role of the node worked on a session, and in how many calls. The times of chunks that are parsed in parallel add
// up.
type RoleTime struct {
	Name  string
	Calls uint64
	Time  time.Duration
}

// Queue is what a session sent over one link.
//
// For a link that ends at the node, frames wait from their arrival until a role takes them, and Peak is the longest queue that they met,
// including the frames of other sessions. For a link that begins at the node, frames wait from their commit until every receiver has their
// effects on disk, and Peak is the most bytes of the session that were under way at once.
type Queue struct {
	Link
	Frames, Bytes uint64
	Peak          uint64 // bytes
	Mean, Max     time.Duration
	Waiting       uint64 // bytes that wait now; only for links that begin at the node
}

// Durations describes many durations. P50 and P95 may be up to 19 % too high.
type Durations struct {
	Count               uint64
	Mean, P50, P95, Max time.Duration
}

// Report returns what is known about a session.
func (r *Recorder) Report(id session.ID) Report {
	if r == nil {
		return Report{Session: id}
	}
	now := r.clock()
	x := Report{Session: id, Life: now - r.begun, Ended: len(r.ended.Keys())}
	if x.Ended > 0 {
		first, _ := r.ended.Get(r.ended.Keys()[0])
		x.Oldest = now - first.since
	}
	s := r.running[id]
	if s == nil {
		s, _ = r.ended.Get(id)
	}
	if s != nil {
		s.count(now)
		x.Trace = r.trace(s, now)
	}
	return x
}

func (r *Recorder) trace(s *Session, now time.Duration) *Trace {
	return &Trace{
		Analysis: s.analysis, ID: s.trace, Recovered: s.recovered, Running: !s.over, Failed: s.failed, Begin: now - s.begin, End: now - s.since,
		States: s.totals, Width: s.line.width, Line: append([]Cell(nil), s.line.cells[:s.line.used]...), Roles: slices.Clone(s.roles),
		In: queues(r.in, s.in), Out: queues(r.out, s.out), Commits: s.commits.durations(), Syncs: s.syncs.durations(),
	}
}

func queues(links []Link, all []*queue) (list []Queue) {
	for i, q := range all {
		if q == nil {
			continue
		}
		x := Queue{Link: links[i], Frames: q.frames, Bytes: q.bytes, Peak: q.peak, Max: q.longest, Waiting: q.waiting}
		if q.through > 0 {
			x.Mean = q.waited / time.Duration(q.through)
		}
		list = append(list, x)
	}
	return list
}

const (
	reportFields = 5
	traceFields  = 15
	maxReport    = 1 << 20 // bytes
)

// Append appends the wire form. It is by hand, because DecodeReport may get it from a stranger: github.com/vmihailenco/msgpack allocates a
// slice as long as its header claims, and accepts other types and bytes left over. With checks of its own around the library this file was
// 25 lines shorter and several times slower.
func (r *Report) Append(b []byte) []byte {
	b = wire.AppendBin(wire.AppendArray(b, reportFields), r.Session[:])
	b = appendTime(wire.AppendUint(appendTime(b, r.Life), uint64(r.Ended)), r.Oldest)
	t := r.Trace
	if t == nil {
		return wire.AppendNil(b)
	}
	b = wire.AppendString(wire.AppendArray(b, traceFields), t.Analysis)
	b = wire.AppendBin(b, t.ID[:])
	for _, is := range []bool{t.Recovered, t.Running, t.Failed} {
		b = wire.AppendBool(b, is)
	}
	b = appendCell(appendTime(appendTime(b, t.Begin), t.End), &t.States)
	b = wire.AppendArray(appendTime(b, t.Width), len(t.Line))
	for i := range t.Line {
		b = appendCell(b, &t.Line[i])
	}
	b = wire.AppendArray(b, len(t.Roles))
	for _, x := range t.Roles {
		b = appendTime(wire.AppendUint(wire.AppendString(wire.AppendArray(b, 3), x.Name), x.Calls), x.Time)
	}
	for _, list := range [][]Queue{t.In, t.Out} {
		b = wire.AppendArray(b, len(list))
		for _, q := range list {
			b = wire.AppendString(wire.AppendString(wire.AppendArray(b, 8), q.Edge), q.Node)
			for _, v := range []uint64{q.Frames, q.Bytes, q.Peak, q.Waiting} {
				b = wire.AppendUint(b, v)
			}
			b = appendTime(appendTime(b, q.Mean), q.Max)
		}
	}
	for _, d := range []Durations{t.Commits, t.Syncs} {
		b = wire.AppendUint(wire.AppendArray(b, 5), d.Count)
		for _, v := range []time.Duration{d.Mean, d.P50, d.P95, d.Max} {
			b = appendTime(b, v)
		}
	}
	return b
}

func appendTime(b []byte, d time.Duration) []byte { return wire.AppendUint(b, uint64(max(0, d))) }

func appendCell(b []byte, c *Cell) []byte {
	b = wire.AppendArray(b, len(c))
	for _, d := range c {
		b = appendTime(b, d)
	}
	return b
}

// DecodeReport reads the wire form.
func DecodeReport(p []byte) (r Report, err error) {
	if len(p) > maxReport {
		return r, fmt.Errorf("report of %d bytes about a session; at most %d are read", len(p), maxReport)
	}
	d := wire.NewReader(p)
	d.ArrayOf(reportFields)
	d.Fixed(r.Session[:])
	r.Life, r.Ended, r.Oldest = readTime(&d), int(min(d.Uint(), Kept)), readTime(&d)
	if !d.IsNil() && d.Err() == nil {
		r.Trace = readTrace(&d)
	}
	if err := d.Done(); err != nil {
		return Report{}, fmt.Errorf("report about a session: %w", err)
	}
	return r, nil
}

func readTrace(d *wire.Reader) *Trace {
	d.ArrayOf(traceFields)
	t := &Trace{Analysis: d.String()}
	d.Fixed(t.ID[:])
	t.Recovered, t.Running, t.Failed = d.Bool(), d.Bool(), d.Bool()
	t.Begin, t.End, t.States, t.Width = readTime(d), readTime(d), readCell(d), readTime(d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		t.Line = append(t.Line, readCell(d))
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(3)
		t.Roles = append(t.Roles, RoleTime{Name: d.String(), Calls: d.Uint(), Time: readTime(d)})
	}
	for _, list := range []*[]Queue{&t.In, &t.Out} {
		for n := d.Array(); n > 0 && d.Err() == nil; n-- {
			d.ArrayOf(8)
			q := Queue{Link: Link{d.String(), d.String()}, Frames: d.Uint(), Bytes: d.Uint(), Peak: d.Uint(), Waiting: d.Uint()}
			q.Mean, q.Max = readTime(d), readTime(d)
			*list = append(*list, q)
		}
	}
	for _, x := range []*Durations{&t.Commits, &t.Syncs} {
		d.ArrayOf(5)
		*x = Durations{d.Uint(), readTime(d), readTime(d), readTime(d), readTime(d)}
	}
	return t
}

// maxTime is a year: sums of many such durations fit into 64 bits.
const maxTime = uint64(365 * 24 * time.Hour)

func readTime(d *wire.Reader) time.Duration {
	return time.Duration(min(d.Uint(), maxTime))
}

func readCell(d *wire.Reader) (c Cell) {
	d.ArrayOf(len(c))
	for i := range c {
		c[i] = readTime(d)
	}
	return c
}
