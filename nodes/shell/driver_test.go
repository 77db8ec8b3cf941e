package shell

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// desk is a gateway that records every request, and answers it when it is stored. It does not know requests that begin with "?".
type desk struct {
	role.Base
	host role.Host
	kept []byte
	full bool // this node's disk, as gateways hear of it
}

var (
	_ role.Gateway           = (*desk)(nil)
	_ role.HeartbeatListener = (*desk)(nil)
)

func (d *desk) Attach(h role.Host) { d.host = h }
func (d *desk) Request(_ time.Time, r *role.Request) bool {
	if r.Body[0] == '?' {
		return false
	}
	d.kept = append(d.kept, r.Body...)
	d.host.Record(bytes.Clone(r.Body))
	d.host.ReplyStored(r.From, []byte("stored "+string(r.Body)))
	return true
}
func (d *desk) Heartbeat(_ time.Time, h role.Heard) { d.full = h.Full }
func (d *desk) Awaits() []session.ID                { return nil }
func (d *desk) Tick(time.Time)                      {}
func (d *desk) TakenOver(role.Session)              {}
func (d *desk) Forget(session.ID, role.Asker)       {}
func (d *desk) Apply(p []byte) error                { d.kept = append(d.kept, p...); return nil }
func (d *desk) SnapshotAll(dst []byte) []byte       { return append(dst, d.kept...) }
func (d *desk) RestoreAll(data []byte) error        { d.kept = bytes.Clone(data); return nil }
func (d *desk) Running() int                        { return 0 }
func (d *desk) Drop(session.ID, role.Outcome)       {}
func (d *desk) Bequeath() []byte                    { return d.kept }
func (d *desk) Inherit(data []byte) error {
	d.kept = bytes.Clone(data)
	d.host.Record(d.kept)
	return nil
}
func (d *desk) Take(session.ID, role.Message, role.Emitter) (bool, error) { return false, nil }

// archive is a desk that also keeps its last request in a file.
type archive struct {
	*desk
	file    role.File
	saved   bool
	dropped []string
}

var _ role.Filer = (*archive)(nil)

func (a *archive) Request(now time.Time, r *role.Request) bool {
	if a.file.Name != "" {
		a.dropped = append(a.dropped, a.file.Name)
	}
	a.file, a.saved = role.File{Name: string(r.Body), Parts: [][]byte{r.Body}}, false
	return a.desk.Request(now, r)
}

func (a *archive) Unsaved() []role.File {
	if a.saved || a.file.Name == "" {
		return nil
	}
	return []role.File{a.file}
}

func (a *archive) Saved(files []role.File) {
	for _, f := range files {
		a.saved = a.saved || f.Name == a.file.Name
	}
}

func (a *archive) Dropped() []string {
	names := a.dropped
	a.dropped = nil
	return names
}

func (a *archive) Files() []string { return []string{a.file.Name} }

// relay passes every payload on and keeps nothing.
type relay struct{ role.Base }

func (relay) Take(_ session.ID, m role.Message, out role.Emitter) (durable bool, err error) {
	out.Emit(0, role.Message{Stream: m.Stream, Payload: bytes.Clone(m.Payload)})
	return false, nil
}
func (relay) Drop(session.ID, role.Outcome) {}

// memory is a log in memory, whose calls can fail.
type memory struct {
	records  [][]byte
	cut      wal.Index
	snapshot []byte
	at       wal.Index
	files    map[string][]byte
	heritage []byte
	retired  bool
	repaired bool
	full     bool  // except for the reserve
	reserve  int64 // size in bytes, how many of them are spent, and how many of those are still free
	spent    int64
	room     int64
	calls    []string
	fails    map[string]error // errors by call
}

// call notes a call and its argument, and returns the error with which it should fail.
func (m *memory) call(name string, about ...any) error {
	m.calls = append(m.calls, fmt.Sprint(append([]any{name}, about...)...))
	return m.fails[name]
}

func (m *memory) Append(records ...wal.Record) (wal.Index, error) {
	if err := m.call("append"); err != nil {
		return 0, err
	}
	size := 0
	for _, r := range records {
		size += len(bytes.Join(r.Parts, nil))
	}
	if err := m.need(size); err != nil {
		return 0, err
	}
	for _, r := range records {
		m.records = append(m.records, bytes.Join(r.Parts, nil))
	}
	return m.Last(), nil
}

func (m *memory) SaveSnapshot(at wal.Index, parts ...[]byte) error {
	if err := m.call("save", at); err != nil {
		return err
	}
	if err := m.need(len(bytes.Join(parts, nil))); err != nil {
		return err
	}
	m.at, m.snapshot = at, bytes.Join(parts, nil)
	return nil
}

func (m *memory) Cut(upTo wal.Index) error {
	if err := m.call("cut", upTo); err != nil {
		return err
	}
	m.cut = max(m.cut, upTo)
	return nil
}

// need takes room on a disk that is full.
func (m *memory) need(bytes int) error {
	if !m.full {
		return nil
	}
	if int64(bytes) > m.room {
		return errFull
	}
	m.room -= int64(bytes)
	return nil
}

func (m *memory) Spend(bytes int64) (given bool, err error) {
	if bytes = min(bytes, m.reserve-m.spent); bytes == 0 {
		return false, nil
	}
	m.spent, m.room = m.spent+bytes, m.room+bytes
	return true, m.call("spend")
}
func (m *memory) Refill() error {
	m.spent, m.room = m.spent-m.room, 0
	if err := errors.Join(m.call("refill"), m.need(int(m.spent))); err != nil {
		return err
	}
	m.spent = 0
	return nil
}
func (m *memory) Short() bool { return m.spent > 0 }

func (m *memory) Last() wal.Index  { return wal.Index(len(m.records)) }
func (m *memory) First() wal.Index { return m.cut + 1 }
func (m *memory) Size() int64 {
	return int64(len(bytes.Join(m.records[min(int(m.cut), len(m.records)):], nil)))
}

func (m *memory) SaveFile(name string, parts ...[]byte) error {
	if err := m.call("save file"); err != nil {
		return err
	}
	if m.files == nil {
		m.files = map[string][]byte{}
	}
	m.files[name] = bytes.Join(parts, nil)
	return nil
}
func (m *memory) DropFiles(names ...string) error {
	if len(names) == 0 {
		return nil
	}
	if err := m.call("drop files"); err != nil {
		return err
	}
	for _, name := range names {
		delete(m.files, name)
	}
	return nil
}
func (m *memory) SweepFiles(keep []string) error {
	if err := m.call("sweep"); err != nil {
		return err
	}
	for name := range m.files {
		if !slices.Contains(keep, name) {
			delete(m.files, name)
		}
	}
	return nil
}
func (m *memory) Retire(heritage []byte) error {
	if err := m.call("retire"); err != nil {
		return err
	}
	m.retired, m.heritage = true, heritage
	return nil
}
func (m *memory) DropHeritage() error {
	if err := m.call("drop"); err != nil {
		return err
	}
	m.heritage = nil
	return nil
}
func (m *memory) Heritage() ([]byte, error) { return m.heritage, nil }
func (m *memory) Repaired() bool            { return m.repaired }
func (m *memory) LoadSnapshot() (wal.Index, []byte, bool, error) {
	return m.at, bytes.Clone(m.snapshot), m.snapshot != nil, nil
}
func (m *memory) Replay(from wal.Index, fn func(i wal.Index, typ byte, data []byte) error) error {
	for i := from; i <= m.Last(); i++ {
		if err := fn(i, recCommit, bytes.Clone(m.records[i-1])); err != nil {
			return err
		}
	}
	return nil
}

var (
	errFull  = fmt.Errorf("no room: %w", wal.ErrDiskFull)
	errFatal = errors.New("the disk is gone")
	upstream = link.Identity{LogID: link.LogID{1}, Incarnation: 1, Life: 11}
	ours     = link.Identity{LogID: link.LogID{2}, Incarnation: 1, Life: 12}
	theirs   = link.Identity{LogID: link.LogID{3}, Incarnation: 1, Life: 13}
)

const second = time.Second

// driver runs a shell in these tests: it collects what leaves, and carries jobs out when the test says so.
type driver struct {
	t    *testing.T
	s    *Shell
	log  *memory
	now  time.Time
	job  *Job
	last Output
	out  []string // what has left since the last call of left
	ends error
	seq  link.Seq
	idle bool // the loop works hardly at all; otherwise it works all the time, so that commits wait as long as they may
}

// newDriver starts a node from a log, with a desk for clients, or with a relay between a sender and a receiver.
func newDriver(t *testing.T, kind string, log *memory, change func(*Config)) *driver {
	t.Helper()
	words := &analyses.Analysis{Name: "words", Streams: []analyses.Stream{{Name: "words"}}}
	cfg := Config{
		Core: core.Config{
			Self: "me-1", ID: ours, Replica: analyses.Replica{Of: 1}, Known: analyses.Set{words}, Window: 1 << 20, Commit: 1 << 20,
			Pace: link.DefaultPace,
		},
		Snapshot: 1 << 30, Drain: 5 * second, Heartbeat: second, Outputs: []string{"tcp://out"}, Dir: "/data",
	}
	switch kind {
	case "desk":
		cfg.Core.Roles = []role.Role{&desk{Base: role.Base{Role: "desk"}}}
	case "archive":
		cfg.Core.Roles = []role.Role{&archive{desk: &desk{Base: role.Base{Role: "archive"}}}}
	case "relay":
		cfg.Core.Roles = []role.Role{relay{role.Base{Role: "relay"}}}
		cfg.Core.In = []core.InEdge{{Name: "in", From: []link.NodeID{"a-1"}, Streams: topology.AllStreams}}
		cfg.Core.Out = []core.OutEdge{{Name: "out", To: []link.NodeID{"z-1"}, Streams: topology.AllStreams, Route: topology.Any}}
	}
	if change != nil {
		change(&cfg)
	}
	d := &driver{t: t, log: log, now: time.Unix(1_700_000_000, 0)}
	if d.log == nil {
		d.log = &memory{}
	}
	if d.log.fails == nil {
		d.log.fails = map[string]error{}
	}
	var err error
	if d.s, err = New(cfg, d.now); err != nil {
		t.Fatal(err)
	}
	a := core.NewLogAnalysis(nil)
	for i := d.log.First(); i <= d.log.Last(); i++ {
		a.Add(link.LogIndex(i), d.log.records[i-1])
	}
	if err := d.s.Recover(d.log, a); err != nil {
		t.Fatal(err)
	}
	return d
}

// step lets time pass, and calls Step.
func (d *driver) step(after time.Duration) *driver {
	d.t.Helper()
	if d.now = d.now.Add(after); !d.idle {
		d.s.Worked(linger)
	}
	o := d.s.Step(d.now)
	if o.Job != nil {
		if d.job != nil {
			d.t.Fatal("N2: a second job while one is under way")
		}
		d.job = o.Job
	}
	for _, a := range o.Acks {
		d.out = append(d.out, fmt.Sprintf("ack %d", a.Hwm))
	}
	for _, s := range o.Sends {
		for _, f := range s.Frames {
			d.out = append(d.out, fmt.Sprintf("%s %d", f.Kind, f.Seq))
		}
	}
	for _, r := range o.Replies {
		d.out = append(d.out, "reply "+string(r.Body))
	}
	if o.Alarm.After(d.now.Add(tickEvery)) || o.Alarm.IsZero() {
		d.t.Errorf("the alarm is %v from now: time alone would bring nothing", o.Alarm.Sub(d.now))
	}
	d.last, d.ends = o, o.End
	return d
}

// carryOut carries out the current job, and steps.
func (d *driver) carryOut() *driver {
	d.t.Helper()
	if d.job == nil {
		d.t.Fatal("there is no job")
	}
	j := *d.job
	d.job = nil
	d.s.Answer(d.now, CarryOut(d.log, j))
	return d.step(0)
}

// settle carries out jobs until there is none.
func (d *driver) settle() *driver {
	d.t.Helper()
	for n := 0; d.job != nil; n++ {
		if d.carryOut(); n > 100 {
			d.t.Fatal("there is always one more job")
		}
	}
	return d
}

func (d *driver) noJob(why string) *driver {
	d.t.Helper()
	if d.job != nil {
		d.t.Errorf("%s: there is a job: %+v", why, *d.job)
	}
	return d
}

// left compares what has left since the last call.
func (d *driver) left(want ...string) *driver {
	d.t.Helper()
	if !slices.Equal(d.out, want) {
		d.t.Errorf("what has left is %q, want %q", d.out, want)
	}
	d.out = nil
	return d
}

func (d *driver) ask(body string) *driver {
	d.s.Requests(d.now, []role.Request{{From: 7, Body: []byte(body)}})
	return d
}

func (d *driver) state() heartbeat.State {
	d.t.Helper()
	if d.last.Beat == nil {
		d.t.Fatal("no heartbeat")
	}
	return d.last.Beat.State
}

// introduce connects a relay with its sender and its receiver, and opens a session.
func (d *driver) introduce() *driver {
	d.t.Helper()
	d.s.Event(d.now, link.Event{Connected: true, Edge: "out", Node: "z-1"})
	d.step(0)
	d.acked(0)
	d.receive(link.Frame{Kind: link.Hello, Payload: link.HelloPayload{To: "me-1"}.Encode()})
	d.frame(link.Open, role.Announcement{Analysis: "words"}.Encode())
	d.step(0).carryOut()
	if d.out = nil; !d.idle {
		d.s.flush.wait = linger // the pause before the first commit is over
	}
	return d
}

func (d *driver) frame(kind link.Kind, payload []byte) {
	d.seq++
	d.receive(link.Frame{Seq: d.seq, Kind: kind, Session: session.ID{7}, Payload: payload, Life: upstream.Life})
}

func (d *driver) receive(f link.Frame) {
	f.Edge, f.From, f.ID = "in", "a-1", upstream
	d.s.Event(d.now, link.Event{Frames: []link.Frame{f.Sealed("me-1")}})
}

// acked is an acknowledgement of the receiver.
func (d *driver) acked(hwm link.Seq) {
	a := link.Ack{Edge: "out", To: "me-1", Log: ours.LogID, Receiver: "z-1", ID: theirs, Hwm: hwm, Echo: ours.Life}
	if hwm > 0 {
		a.HwmLife = ours.Life
	}
	d.s.Event(d.now, link.Event{Acks: []link.Ack{a}})
}
