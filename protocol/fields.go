package protocol

import (
	"strings"
	"time"

	"posta.dev/posta/internal/wire"
)

// fields appends one map whose number of keys is not known before its end.
//
//	0x80|n  key value  key value …     n is written last, over a placeholder
type fields struct {
	b  []byte
	at int // of the map's first byte
	n  int
}

func newFields(dst []byte) fields {
	return fields{b: append(dst, 0x80), at: len(dst)}
}

func (f *fields) key(k string) {
	f.b = wire.AppendString(f.b, k)
	f.n++
}

func (f *fields) text(k, v string) {
	f.key(k)
	f.b = appendText(f.b, v)
}

// maybe leaves the key away when there is nothing to say.
func (f *fields) maybe(k, v string) {
	if v != "" {
		f.text(k, v)
	}
}

func (f *fields) uint(k string, v uint64) {
	f.key(k)
	f.b = wire.AppendUint(f.b, v)
}

func (f *fields) millis(k string, d time.Duration) { f.uint(k, uint64(max(0, d.Milliseconds()))) }

func (f *fields) bool(k string, v bool) {
	f.key(k)
	f.b = wire.AppendBool(f.b, v)
}

func (f *fields) bin(k string, v []byte) {
	f.key(k)
	f.b = wire.AppendBin(f.b, v)
}

func (f *fields) texts(k string, list []string) {
	f.key(k)
	f.b = wire.AppendArray(f.b, len(list))
	for _, s := range list {
		f.b = appendText(f.b, s)
	}
}

func (f *fields) lanes(k string, lanes []LaneSeq) {
	f.key(k)
	f.b = wire.AppendArray(f.b, len(lanes))
	for _, l := range lanes {
		f.b = wire.AppendArray(f.b, 2)
		f.b = wire.AppendUint(f.b, uint64(l.Lane))
		f.b = wire.AppendUint(f.b, l.Seq)
	}
}

// close writes the number of keys and returns the bytes. The one-byte form holds 15; no message has more, and the bytes
// of a message are decided here, not by a peer.
func (f *fields) close() []byte {
	if f.n > 15 {
		panic("protocol: a map of more than 15 keys needs a longer header")
	}
	f.b[f.at] = 0x80 | byte(f.n)
	return f.b
}

// appendText appends s as UTF-8, whatever it holds: libraries in other languages refuse a str that is not, and CSV files
// contain anything.
func appendText(dst []byte, s string) []byte {
	return wire.AppendString(dst, strings.ToValidUTF8(s, "\ufffd"))
}
