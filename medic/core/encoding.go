package core

// Append appends the wire form.
func (m *Message) Append(p []byte) []byte { return encode(p, m.fields) }

// DecodeMessage reads the wire form.
func DecodeMessage(p []byte) (Message, error) {
	var m Message
	if err := decode(p, m.fields); err != nil {
		return Message{}, err
	}
	return m, nil
}

func (m *Message) fields(c *codec) {
	c.array(18)
	number(c, &m.Kind)
	text(c, &m.From)
	c.logID(&m.ID.LogID)
	number(c, &m.ID.Incarnation)
	c.count(&m.ID.PID)
	text(c, &m.To)
	m.Term.fields(c)
	c.flag(&m.Leading)
	c.duration(&m.Uptime)
	list(c, &m.Reach, text)
	list(c, &m.Have, func(c *codec, id *EntryID) { id.fields(c) })
	m.Order.fields(c)
	m.Report.fields(c)
	list(c, &m.Entries, entryFields)
	m.Oldest.fields(c)
	text(c, &m.Node)
	c.count(&m.EndedPID)
	var reserved uint64 // for a later version
	number(c, &reserved)
}

func (o *Order) fields(c *codec) {
	c.array(8)
	o.OrderID.fields(c)
	text(c, &o.Leader)
	text(c, &o.Target)
	text(c, &o.Host)
	c.duration(&o.Silent)
	c.flag(&o.Ended)
}

func (r *Report) fields(c *codec) {
	c.array(10)
	r.Order.fields(c)
	text(c, &r.Leader)
	text(c, &r.Target)
	number(c, &r.Verdict)
	r.Term.fields(c)
	c.count(&r.PID)
	c.duration(&r.Took)
	text(c, &r.Text)
}

// fields encodes three fields of the struct that contains the OrderID.
func (o *OrderID) fields(c *codec) {
	c.generation(&o.Gen)
	number(c, &o.Life)
	number(c, &o.N)
}

func entryFields(c *codec, e *Entry) {
	c.array(10)
	e.EntryID.fields(c)
	c.instant(&e.At)
	number(c, &e.Kind)
	text(c, &e.Node)
	c.duration(&e.Silent)
	c.duration(&e.Wait)
	c.count(&e.InARow)
	c.duration(&e.Took)
	number(c, &e.Incarnation)
	text(c, &e.Text)
}

func (id *EntryID) fields(c *codec) {
	c.array(2)
	id.Term.fields(c)
	number(c, &id.N)
}

func (t *Term) fields(c *codec) {
	c.array(3)
	c.generation(&t.Gen)
	text(c, &t.Leader)
	number(c, &t.Life)
}

// Types of records in the log. The log stores them next to the bytes.
const (
	TermRecord  byte = 1
	EntryRecord byte = 2
)

// Encode returns the record as the log keeps it.
func (r Record) Encode() (typ byte, data []byte) {
	if r.Term != nil {
		return TermRecord, encode(nil, r.Term.fields)
	}
	return EntryRecord, encode(nil, func(c *codec) { entryFields(c, r.Entry) })
}

// Restore adds a record of the log to the state. Records are restored in the order in which they were stored.
func (s *State) Restore(typ byte, data []byte) error {
	return decodeStored(data, func(c *codec) {
		switch typ {
		case TermRecord:
			s.Term.fields(c)
		case EntryRecord:
			var e Entry
			entryFields(c, &e)
			s.Journal = append(s.Journal, e)
		default:
			c.in.Fail("a record of type %d", typ)
		}
	})
}

// Snapshot returns the durable state: with it the log needs no record before it.
func (c *Core) Snapshot() []byte {
	s := State{Term: c.stored, Journal: c.journal.entries}
	return encode(nil, s.fields)
}

// DecodeSnapshot reads what Snapshot wrote.
func DecodeSnapshot(p []byte) (s State, err error) {
	err = decodeStored(p, s.fields)
	return s, err
}

func (s *State) fields(c *codec) {
	s.Term.fields(c)
	list(c, &s.Journal, entryFields)
}
