package core

import (
	"encoding/binary"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
	"posta.dev/posta/protocol/session"
)

// Op says what a recorded input does when it is repeated in recovery.
type Op uint8

const (
	opOpen    Op = iota + 1 // a session starts; payload: its announcement
	opData                  // Role takes Payload
	opEos                   // a sender has ended a stream
	opEnd                   // Role's End for a stream
	opMore                  // Role's More
	opDrop                  // the session leaves; payload: outcome
	opPrivate               // a gateway's own change
	opJoin                  // one more sender announces a session that runs
	opRewired               // nothing: from here on the node has other links than before
)

// input is a call that changed durable state.
type input struct {
	op      Op
	role    int
	session session.ID
	stream  int
	edge    string // opOpen, opJoin, opEos
	from    link.NodeID
	payload []byte
}

// outFrame is a frame that a commit produced, with where it goes.
type outFrame struct {
	edge  string
	to    link.NodeID // empty on edges of route "all"
	frame link.Frame
}

// record is what one commit stores (N2). On disk:
//
//	0        4            4+n
//	┌────────┬────────────┬──────────────────────────────────────────┐
//	│ n u32  │ meta       │ payloads, one after the other, in the    │
//	│ LE     │ msgpack    │ order in which the meta mentions them    │
//	└────────┴────────────┴──────────────────────────────────────────┘
//	meta = [version, names, hwms, progress, inputs, frames]
//
// Names of edges and nodes stand once, in a table; elsewhere their index is used. Payloads stand outside so that they are
// gathered by the log without having been copied here.
type record struct {
	hwms     []link.Hwm
	progress []link.Progress
	inputs   []input
	frames   []outFrame
}

const recordVersion = 1

type nameTable struct {
	index map[string]int
	list  []string
}

// id returns the index of a name. The few names that came first are looked for one by one: that beats a map where almost
// all of a commit are frames of one link.
func (t *nameTable) id(s string) uint64 {
	for i, n := range t.list[:min(len(t.list), fewNames)] {
		if n == s {
			return uint64(i)
		}
	}
	if i, ok := t.index[s]; ok {
		return uint64(i)
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	i := len(t.list)
	t.index[s] = i
	t.list = append(t.list, s)
	return uint64(i)
}

const fewNames = 8

// emptied returns a record that uses the memory of r for its frames and inputs again. They need it in every commit, and for
// frames of 1 KiB it is a quarter of their bytes.
func (r *record) emptied() record {
	clear(r.inputs) // let the payloads go
	clear(r.frames)
	if cap(r.frames)+cap(r.inputs) > maxReused {
		return record{}
	}
	return record{inputs: r.inputs[:0], frames: r.frames[:0]}
}

// maxReused bounds what an idle node keeps: some 2 MB.
const maxReused = 16 << 10

// encode returns the parts of the record; the first is new, the others are the payloads themselves.
func (r *record) encode() [][]byte {
	var names nameTable
	parts := make([][]byte, 1, 1+len(r.inputs)+len(r.frames))
	add := func(p []byte) {
		if len(p) > 0 {
			parts = append(parts, p)
		}
	}
	body := make([]byte, 0, 256+64*(len(r.inputs)+len(r.frames)))
	body = wire.AppendArray(body, len(r.hwms))
	for i := range r.hwms {
		body = appendHwm(body, &names, &r.hwms[i])
	}
	body = wire.AppendArray(body, len(r.progress))
	for i := range r.progress {
		body = appendProgress(body, &names, &r.progress[i])
	}
	body = wire.AppendArray(body, len(r.inputs))
	for i := range r.inputs {
		body = appendInput(body, &names, &r.inputs[i])
		add(r.inputs[i].payload)
	}
	body = wire.AppendArray(body, len(r.frames))
	for i := range r.frames {
		body = appendOutFrame(body, &names, &r.frames[i])
		add(r.frames[i].frame.Payload)
	}
	head := make([]byte, 4, 64+len(body))
	head = wire.AppendArray(head, 6)
	head = wire.AppendUint(head, recordVersion)
	head = wire.AppendArray(head, len(names.list))
	for _, n := range names.list {
		head = wire.AppendString(head, n)
	}
	head = append(head, body...)
	binary.LittleEndian.PutUint32(head, uint32(len(head)-4))
	parts[0] = head
	return parts
}

func appendHwm(b []byte, t *nameTable, h *link.Hwm) []byte {
	b = wire.AppendArray(b, 6)
	b = wire.AppendUint(b, t.id(h.Edge))
	b = wire.AppendUint(b, t.id(string(h.From)))
	b = wire.AppendBin(b, h.ID.LogID[:])
	b = wire.AppendUint(b, uint64(h.ID.Incarnation))
	b = wire.AppendUint(b, uint64(h.Seq))
	b = wire.AppendArray(b, len(h.Retired))
	for _, l := range h.Retired {
		b = wire.AppendBin(b, l[:])
	}
	return b
}

func appendProgress(b []byte, t *nameTable, p *link.Progress) []byte {
	b = wire.AppendArray(b, 4)
	b = wire.AppendUint(b, t.id(p.Edge))
	b = wire.AppendUint(b, t.id(string(p.To)))
	b = wire.AppendUint(b, uint64(p.Last))
	b = wire.AppendArray(b, 3*len(p.Acked))
	for _, a := range p.Acked {
		b = wire.AppendUint(b, t.id(string(a.Node)))
		b = wire.AppendUint(b, uint64(a.Seq))
		b = wire.AppendBin(b, a.Log[:])
	}
	return b
}

func appendInput(b []byte, t *nameTable, in *input) []byte {
	b = wire.AppendArray(b, 7)
	b = wire.AppendUint(b, uint64(in.op))
	b = wire.AppendUint(b, uint64(in.role))
	b = wire.AppendBin(b, in.session[:])
	b = wire.AppendUint(b, uint64(in.stream))
	b = wire.AppendUint(b, t.id(in.edge))
	b = wire.AppendUint(b, t.id(string(in.from)))
	return wire.AppendUint(b, uint64(len(in.payload)))
}

func appendOutFrame(b []byte, t *nameTable, f *outFrame) []byte {
	b = wire.AppendArray(b, 7)
	b = wire.AppendUint(b, t.id(f.edge))
	b = wire.AppendUint(b, t.id(string(f.to)))
	b = wire.AppendUint(b, uint64(f.frame.Seq))
	b = wire.AppendUint(b, uint64(f.frame.Kind))
	b = wire.AppendBin(b, f.frame.Session[:])
	b = wire.AppendUint(b, uint64(f.frame.Stream))
	return wire.AppendUint(b, uint64(len(f.frame.Payload)))
}

// decodeRecord reads what encode wrote. Payloads are views into data.
func decodeRecord(data []byte) (*record, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("commit record of %d bytes", len(data))
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, fmt.Errorf("commit record: %d bytes of meta announced, %d there", n, len(data)-4)
	}
	d := recordReader{r: wire.NewReader(data[4 : 4+n]), payloads: data[4+n:]}
	rec := d.record()
	if err := d.r.Done(); err != nil {
		return nil, fmt.Errorf("commit record: %w", err)
	}
	if len(d.payloads) != 0 {
		return nil, fmt.Errorf("commit record: %d bytes of payload left over", len(d.payloads))
	}
	return rec, nil
}

type recordReader struct {
	r        wire.Reader
	names    []string
	payloads []byte
}

func (d *recordReader) record() *record {
	rec := &record{}
	d.r.ArrayOf(6)
	if v := d.r.Uint(); v != recordVersion {
		d.r.Fail("version %d; this program reads %d", v, recordVersion)
	}
	for n := d.r.Array(); n > 0; n-- {
		d.names = append(d.names, d.r.String())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.hwms = append(rec.hwms, d.hwm())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.progress = append(rec.progress, d.progress())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.inputs = append(rec.inputs, d.input())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.frames = append(rec.frames, d.frame())
	}
	return rec
}

func (d *recordReader) name() string {
	i := d.r.Uint()
	if i >= uint64(len(d.names)) {
		d.r.Fail("name %d of %d", i, len(d.names))
		return ""
	}
	return d.names[i]
}

// small reads an index; one that no program of ours writes is an error, and never negative.
func (d *recordReader) small() int {
	v := d.r.Uint()
	if v > maxIndex {
		d.r.Fail("index %d", v)
		return 0
	}
	return int(v)
}

const maxIndex = 1 << 16

func (d *recordReader) node() link.NodeID { return link.NodeID(d.name()) }

func (d *recordReader) payload() []byte {
	n := d.r.Uint()
	if n > uint64(len(d.payloads)) {
		d.r.Fail("payload of %d bytes, %d left", n, len(d.payloads))
		return nil
	}
	p := d.payloads[:n:n]
	d.payloads = d.payloads[n:]
	return p
}

func (d *recordReader) blob(dst []byte) {
	if b := d.r.Bytes(); len(b) == len(dst) {
		copy(dst, b)
	} else {
		d.r.Fail("%d bytes found where %d are wanted", len(b), len(dst))
	}
}

func (d *recordReader) hwm() (h link.Hwm) {
	d.r.ArrayOf(6)
	h.Edge, h.From = d.name(), d.node()
	d.blob(h.ID.LogID[:])
	h.ID.Incarnation = link.Incarnation(d.r.Uint())
	h.Seq = link.Seq(d.r.Uint())
	for n := d.r.Array(); n > 0; n-- {
		var l link.LogID
		d.blob(l[:])
		h.Retired = append(h.Retired, l)
	}
	return h
}

func (d *recordReader) progress() (p link.Progress) {
	d.r.ArrayOf(4)
	p.Edge, p.To = d.name(), d.node()
	p.Last = link.Seq(d.r.Uint())
	for n := d.r.Array() / 3; n > 0; n-- {
		a := link.Acked{Node: d.node(), Seq: link.Seq(d.r.Uint())}
		d.blob(a.Log[:])
		p.Acked = append(p.Acked, a)
	}
	return p
}

func (d *recordReader) input() (in input) {
	d.r.ArrayOf(7)
	in.op = Op(d.r.Uint())
	in.role = d.small()
	d.blob(in.session[:])
	in.stream = d.small()
	in.edge, in.from = d.name(), d.node()
	in.payload = d.payload()
	return in
}

func (d *recordReader) frame() (f outFrame) {
	d.r.ArrayOf(7)
	f.edge, f.to = d.name(), d.node()
	f.frame.Seq = link.Seq(d.r.Uint())
	f.frame.Kind = link.Kind(d.r.Uint())
	d.blob(f.frame.Session[:])
	f.frame.Stream = d.small()
	f.frame.Payload = d.payload()
	return f
}
