package record

import (
	"encoding/binary"
	"fmt"
	"math"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
)

// Decode reads what Encode wrote. Payloads are views into data.
func Decode(data []byte) (*Record, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("commit record of %d bytes", len(data))
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, fmt.Errorf("commit record: %d bytes of meta announced, %d there", n, len(data)-4)
	}
	d := decoder{r: wire.NewReader(data[4 : 4+n]), payloads: data[4+n:]}
	rec := d.record()
	if err := d.r.Done(); err != nil {
		return nil, fmt.Errorf("commit record: %w", err)
	}
	if len(d.payloads) != 0 {
		return nil, fmt.Errorf("commit record: %d bytes of payload left over", len(d.payloads))
	}
	return rec, nil
}

type decoder struct {
	r        wire.Reader
	names    []string
	payloads []byte
}

func (d *decoder) record() *Record {
	rec := &Record{}
	fields := d.r.Array()
	if v := d.r.Uint(); v != version {
		d.r.Fail("version %d; this program reads %d: let the program that wrote it end its sessions, and start this one with an empty directory",
			v, version)
	} else if fields != 7 {
		d.r.Fail("%d fields, 7 are wanted", fields)
	}
	rec.Life = link.Life(d.r.Uint())
	for n := d.r.Array(); n > 0; n-- {
		d.names = append(d.names, d.r.String())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.Hwms = append(rec.Hwms, d.hwm())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.Progress = append(rec.Progress, d.progress())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.Inputs = append(rec.Inputs, d.input())
	}
	for n := d.r.Array(); n > 0; n-- {
		rec.Frames = append(rec.Frames, d.frame())
	}
	return rec
}

func (d *decoder) name() string {
	i := d.r.Uint()
	if i >= uint64(len(d.names)) {
		d.r.Fail("name %d of %d", i, len(d.names))
		return ""
	}
	return d.names[i]
}

// index reads an index. It is never negative, and a value above maxIndex, which Encode never writes, is an error.
func (d *decoder) index() int {
	v := d.r.Uint()
	if v > maxIndex {
		d.r.Fail("index %d", v)
		return 0
	}
	return int(v)
}

// sum reads a checksum.
func (d *decoder) sum() uint32 {
	v := d.r.Uint()
	if v > math.MaxUint32 {
		d.r.Fail("checksum %d", v)
	}
	return uint32(v)
}

const maxIndex = 1 << 16

func (d *decoder) node() link.NodeID { return link.NodeID(d.name()) }

func (d *decoder) payload() []byte {
	n := d.r.Uint()
	if n > uint64(len(d.payloads)) {
		d.r.Fail("payload of %d bytes, %d left", n, len(d.payloads))
		return nil
	}
	p := d.payloads[:n:n]
	d.payloads = d.payloads[n:]
	return p
}

func (d *decoder) hwm() (h link.Hwm) {
	d.r.ArrayOf(8)
	h.Edge, h.From = d.name(), d.node()
	d.r.Fixed(h.ID.LogID[:])
	h.ID.Incarnation = link.Incarnation(d.r.Uint())
	h.ID.Life = link.Life(d.r.Uint())
	h.Seq = link.Seq(d.r.Uint())
	h.Life = link.Life(d.r.Uint())
	for n := d.r.Array(); n > 0; n-- {
		var l link.LogID
		d.r.Fixed(l[:])
		h.Superseded = append(h.Superseded, l)
	}
	return h
}

func (d *decoder) progress() (p link.Progress) {
	d.r.ArrayOf(5)
	p.Edge, p.To = d.name(), d.node()
	p.Last, p.Life = link.Seq(d.r.Uint()), link.Life(d.r.Uint())
	for n := d.r.Array() / ackedFields; n > 0; n-- {
		a := link.Acked{Node: d.node(), Seq: link.Seq(d.r.Uint())}
		d.r.Fixed(a.Log[:])
		a.Life, a.Here = link.Life(d.r.Uint()), d.r.Bool()
		p.Acked = append(p.Acked, a)
	}
	return p
}

func (d *decoder) input() (in Input) {
	d.r.ArrayOf(7)
	in.Op = Op(d.r.Uint())
	in.Role = d.index()
	d.r.Fixed(in.Session[:])
	in.Stream = d.index()
	in.Edge, in.From = d.name(), d.node()
	in.Payload = d.payload()
	return in
}

func (d *decoder) frame() (f Frame) {
	d.r.ArrayOf(8)
	f.Edge, f.To = d.name(), d.node()
	f.Frame.Seq = link.Seq(d.r.Uint())
	f.Frame.Kind = link.Kind(d.r.Uint())
	d.r.Fixed(f.Frame.Session[:])
	f.Frame.Stream = d.index()
	f.Frame.Sum = d.sum()
	f.Frame.Payload = d.payload()
	return f
}
