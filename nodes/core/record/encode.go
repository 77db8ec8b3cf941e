package record

import (
	"encoding/binary"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/link"
)

// Encode returns the parts of the record; the first is new, the others are the payloads themselves.
func (r *Record) Encode() [][]byte {
	var names nameTable
	parts := make([][]byte, 1, 1+len(r.Inputs)+len(r.Frames))
	add := func(p []byte) {
		if len(p) > 0 {
			parts = append(parts, p)
		}
	}
	body := make([]byte, 0, 256+64*(len(r.Inputs)+len(r.Frames)))
	body = wire.AppendArray(body, len(r.Hwms))
	for i := range r.Hwms {
		body = appendHwm(body, &names, &r.Hwms[i])
	}
	body = wire.AppendArray(body, len(r.Progress))
	for i := range r.Progress {
		body = appendProgress(body, &names, &r.Progress[i])
	}
	body = wire.AppendArray(body, len(r.Inputs))
	for i := range r.Inputs {
		body = appendInput(body, &names, &r.Inputs[i])
		add(r.Inputs[i].Payload)
	}
	body = wire.AppendArray(body, len(r.Frames))
	for i := range r.Frames {
		body = appendFrame(body, &names, &r.Frames[i])
		add(r.Frames[i].Frame.Payload)
	}
	head := make([]byte, 4, 64+len(body))
	head = wire.AppendArray(head, 7)
	head = wire.AppendUint(head, version)
	head = wire.AppendUint(head, uint64(r.Life))
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
	b = wire.AppendArray(b, 8)
	b = wire.AppendUint(b, t.id(h.Edge))
	b = wire.AppendUint(b, t.id(string(h.From)))
	b = wire.AppendBin(b, h.ID.LogID[:])
	b = wire.AppendUint(b, uint64(h.ID.Incarnation))
	b = wire.AppendUint(b, uint64(h.ID.Life))
	b = wire.AppendUint(b, uint64(h.Seq))
	b = wire.AppendUint(b, uint64(h.Life))
	b = wire.AppendArray(b, len(h.Superseded))
	for _, l := range h.Superseded {
		b = wire.AppendBin(b, l[:])
	}
	return b
}

const ackedFields = 5 // of each receiver

func appendProgress(b []byte, t *nameTable, p *link.Progress) []byte {
	b = wire.AppendArray(b, 5)
	b = wire.AppendUint(b, t.id(p.Edge))
	b = wire.AppendUint(b, t.id(string(p.To)))
	b = wire.AppendUint(b, uint64(p.Last))
	b = wire.AppendUint(b, uint64(p.Life))
	b = wire.AppendArray(b, ackedFields*len(p.Acked))
	for _, a := range p.Acked {
		b = wire.AppendUint(b, t.id(string(a.Node)))
		b = wire.AppendUint(b, uint64(a.Seq))
		b = wire.AppendBin(b, a.Log[:])
		b = wire.AppendUint(b, uint64(a.Life))
		b = wire.AppendBool(b, a.Here)
	}
	return b
}

func appendInput(b []byte, t *nameTable, in *Input) []byte {
	b = wire.AppendArray(b, 7)
	b = wire.AppendUint(b, uint64(in.Op))
	b = wire.AppendUint(b, uint64(in.Role))
	b = wire.AppendBin(b, in.Session[:])
	b = wire.AppendUint(b, uint64(in.Stream))
	b = wire.AppendUint(b, t.id(in.Edge))
	b = wire.AppendUint(b, t.id(string(in.From)))
	return wire.AppendUint(b, uint64(len(in.Payload)))
}

func appendFrame(b []byte, t *nameTable, f *Frame) []byte {
	b = wire.AppendArray(b, 8)
	b = wire.AppendUint(b, t.id(f.Edge))
	b = wire.AppendUint(b, t.id(string(f.To)))
	b = wire.AppendUint(b, uint64(f.Frame.Seq))
	b = wire.AppendUint(b, uint64(f.Frame.Kind))
	b = wire.AppendBin(b, f.Frame.Session[:])
	b = wire.AppendUint(b, uint64(f.Frame.Stream))
	b = wire.AppendUint(b, uint64(f.Frame.Sum))
	return wire.AppendUint(b, uint64(len(f.Frame.Payload)))
}

type nameTable struct {
	index map[string]int
	list  []string
}

// id returns the index of a name. The first few names are searched one by one. That is faster than a map, because almost all frames of a
// commit belong to one link.
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
