package core

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
)

// ErrBadMessage is wrapped by the errors of DecodeMessage, DecodeRecord and the others: the bytes are no medic's of this version.
var ErrBadMessage = errors.New("not a medic's message")

// A message is an array, in the order of the struct's fields; times are milliseconds and points in time nanoseconds since 1970. What a kind does
// not use is empty, which costs a byte each: medics send some tens of messages a second.
const messageFields = 18

// maxGeneration leaves room to count: a made-up generation must not make the next one wrap around to nothing.
const maxGeneration = 1 << 62

// Append appends the wire form.
func (m *Message) Append(p []byte) []byte {
	p = wire.AppendArray(p, messageFields)
	p = wire.AppendUint(p, uint64(m.Kind))
	p = wire.AppendString(p, string(m.From))
	p = wire.AppendBin(p, m.ID.LogID[:])
	p = wire.AppendUint(p, m.ID.Incarnation)
	p = wire.AppendUint(p, uint64(m.ID.PID))
	p = wire.AppendString(p, string(m.To))
	p = appendTerm(p, m.Term)
	p = wire.AppendBool(p, m.Leading)
	p = wire.AppendUint(p, millis(m.Uptime))
	p = wire.AppendArray(p, len(m.Reach))
	for _, h := range m.Reach {
		p = wire.AppendString(p, h)
	}
	p = wire.AppendArray(p, len(m.Have))
	for _, x := range m.Have {
		p = appendID(p, EntryID(x))
	}
	p = m.Order.append(p)
	p = m.Report.append(p)
	p = wire.AppendArray(p, len(m.Entries))
	for i := range m.Entries {
		p = m.Entries[i].Append(p)
	}
	p = appendID(p, m.Oldest)
	p = wire.AppendString(p, string(m.Node))
	p = wire.AppendUint(p, uint64(m.EndedPID))
	return wire.AppendUint(p, 0) // room for a later version's length
}

// DecodeMessage reads the wire form.
func DecodeMessage(p []byte) (m Message, err error) {
	d := wire.NewReader(p)
	d.ArrayOf(messageFields)
	m.Kind, m.From = Kind(d.Uint()), NodeID(d.String())
	copy(m.ID.LogID[:], d.BytesOf(len(m.ID.LogID)))
	m.ID.Incarnation, m.ID.PID = d.Uint(), pid(&d)
	m.To, m.Term, m.Leading, m.Uptime = NodeID(d.String()), readTerm(&d), d.Bool(), duration(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		m.Reach = append(m.Reach, d.String())
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		m.Have = append(m.Have, Extent(readID(&d)))
	}
	m.Order, m.Report = readOrder(&d), readReport(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		m.Entries = append(m.Entries, readEntry(&d))
	}
	m.Oldest = readID(&d)
	m.Node, m.EndedPID = NodeID(d.String()), pid(&d)
	d.Uint()
	if err := d.Done(); err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrBadMessage, err)
	}
	return m, nil
}

func (o *Order) append(p []byte) []byte {
	p = wire.AppendArray(p, 7)
	p = wire.AppendUint(wire.AppendUint(p, uint64(o.Gen)), o.N)
	p = wire.AppendString(p, string(o.Leader))
	p = wire.AppendString(p, string(o.Target))
	p = wire.AppendString(p, o.Host)
	return wire.AppendBool(wire.AppendUint(p, millis(o.Silent)), o.Ended)
}

func readOrder(d *wire.Reader) (o Order) {
	d.ArrayOf(7)
	o.OrderID = OrderID{generation(d), d.Uint()}
	o.Leader, o.Target, o.Host, o.Silent, o.Ended = NodeID(d.String()), NodeID(d.String()), d.String(), duration(d), d.Bool()
	return o
}

func (r *Report) append(p []byte) []byte {
	p = wire.AppendArray(p, 9)
	p = wire.AppendUint(wire.AppendUint(p, uint64(r.Order.Gen)), r.Order.N)
	p = wire.AppendString(wire.AppendString(p, string(r.Leader)), string(r.Target))
	p = appendTerm(wire.AppendUint(p, uint64(r.Verdict)), r.Term)
	p = wire.AppendUint(wire.AppendUint(p, uint64(r.PID)), millis(r.Took))
	return wire.AppendString(p, r.Text)
}

func readReport(d *wire.Reader) (r Report) {
	d.ArrayOf(9)
	r.Order = OrderID{generation(d), d.Uint()}
	r.Leader, r.Target, r.Verdict, r.Term = NodeID(d.String()), NodeID(d.String()), Verdict(d.Uint()), readTerm(d)
	r.PID, r.Took, r.Text = pid(d), duration(d), d.String()
	return r
}

// Append appends the form that entries have in messages and on disk.
func (e *Entry) Append(p []byte) []byte {
	p = wire.AppendArray(p, 10)
	p = appendID(p, e.EntryID)
	p = wire.AppendInt(p, e.At.UnixNano())
	p = wire.AppendUint(p, uint64(e.Kind))
	p = wire.AppendString(p, string(e.Node))
	p = wire.AppendUint(wire.AppendUint(p, millis(e.Silent)), millis(e.Wait))
	p = wire.AppendUint(wire.AppendUint(p, uint64(e.InARow)), millis(e.Took))
	return wire.AppendString(wire.AppendUint(p, e.Incarnation), e.Text)
}

func readEntry(d *wire.Reader) (e Entry) {
	d.ArrayOf(10)
	e.EntryID = readID(d)
	e.At = time.Unix(0, d.Int())
	e.Kind, e.Node = EntryKind(d.Uint()), NodeID(d.String())
	e.Silent, e.Wait = duration(d), duration(d)
	e.InARow, e.Took = int(min(d.Uint(), 1<<31)), duration(d)
	e.Incarnation, e.Text = d.Uint(), d.String()
	return e
}

// Records have a type beside their bytes: those of the log.
const (
	TermRecord  byte = 1
	EntryRecord byte = 2
)

// Encode is the record as the log keeps it.
func (r Record) Encode() (typ byte, data []byte) {
	if r.Term != nil {
		return TermRecord, appendTerm(nil, *r.Term)
	}
	return EntryRecord, r.Entry.Append(nil)
}

// Restore adds a record of the log to the state, in the order in which they were stored.
func (s *State) Restore(typ byte, data []byte) error {
	d := wire.NewReader(data)
	switch typ {
	case TermRecord:
		s.Term = readTerm(&d)
	case EntryRecord:
		s.Journal = append(s.Journal, readEntry(&d))
	default:
		d.Fail("a record of type %d", typ)
	}
	return finished(&d)
}

// Snapshot is all that a log has to keep of what is durable.
func (c *Core) Snapshot() []byte {
	p := appendTerm(nil, c.stored)
	p = wire.AppendArray(p, len(c.journal.entries))
	for i := range c.journal.entries {
		p = c.journal.entries[i].Append(p)
	}
	return p
}

// DecodeSnapshot reads what Snapshot wrote.
func DecodeSnapshot(p []byte) (s State, err error) {
	d := wire.NewReader(p)
	s.Term = readTerm(&d)
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		s.Journal = append(s.Journal, readEntry(&d))
	}
	return s, finished(&d)
}

func finished(d *wire.Reader) error {
	if err := d.Done(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadMessage, err)
	}
	return nil
}

func appendTerm(p []byte, t Term) []byte {
	return wire.AppendString(wire.AppendUint(wire.AppendArray(p, 2), uint64(t.Gen)), string(t.Leader))
}

func readTerm(d *wire.Reader) Term {
	d.ArrayOf(2)
	return Term{generation(d), NodeID(d.String())}
}

func appendID(p []byte, id EntryID) []byte {
	return wire.AppendUint(appendTerm(wire.AppendArray(p, 2), id.Term), id.N)
}

func readID(d *wire.Reader) EntryID {
	d.ArrayOf(2)
	return EntryID{readTerm(d), d.Uint()}
}

func generation(d *wire.Reader) Generation {
	g := d.Uint()
	if g > maxGeneration {
		d.Fail("generation %d is none", g)
	}
	return Generation(g)
}

func pid(d *wire.Reader) int { return int(min(d.Uint(), 1<<31)) }

func millis(t time.Duration) uint64 { return uint64(max(0, t) / time.Millisecond) }

func duration(d *wire.Reader) time.Duration {
	return time.Duration(min(d.Uint(), uint64(100*365*24*time.Hour/time.Millisecond))) * time.Millisecond
}
