package protocol

import (
	"posta.dev/posta/internal/wire"
)

// fields writes a map key by key, for frames that no message gives.
type fields struct {
	b  []byte
	at int
	n  int
}

func newFields(dst []byte) fields { return fields{b: append(dst, 0x80), at: len(dst)} }

func (f *fields) key(k string) {
	f.b = wire.AppendString(f.b, k)
	f.n++
}

func (f *fields) text(k, v string) {
	f.key(k)
	f.b = wire.AppendString(f.b, v)
}

func (f *fields) uint(k string, v uint64) {
	f.key(k)
	f.b = wire.AppendUint(f.b, v)
}

func (f *fields) texts(k string, list []string) {
	f.key(k)
	f.b = wire.AppendArray(f.b, len(list))
	for _, s := range list {
		f.b = wire.AppendString(f.b, s)
	}
}

func (f *fields) close() []byte {
	f.b[f.at] = 0x80 | byte(f.n)
	return f.b
}
