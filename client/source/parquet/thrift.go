package parquet

import (
	"encoding/binary"
	"errors"
)

// This file reads the compact protocol of Apache Thrift, in which the footer of a file and the headers of its pages are written. It
// allocates nothing: it walks structures field by field, and skips what is not wanted.

// The types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxNesting is how deep structures may be nested.
const maxNesting = 32

var (
	errShort  = errors.New("it ends too early")
	errThrift = errors.New("it is no such structure")
)

// thrift reads from p. The first error stays; after it, reads return zeros and no fields.
type thrift struct {
	p   []byte
	i   int
	err error
	// jump, if it is set, goes on reading n bytes behind the end of p: a text that nobody wants may be longer than what is worth being read.
	jump func(n uint64)
}

func (t *thrift) fail(err error) {
	if t.err == nil {
		t.err = err
	}
	t.i = len(t.p)
}

func (t *thrift) byte() byte {
	if t.i >= len(t.p) {
		t.fail(errShort)
		return 0
	}
	t.i++
	return t.p[t.i-1]
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.p[t.i:])
	switch {
	case n > 0:
		t.i += n
		return v
	case n == 0:
		t.fail(errShort)
	default:
		t.fail(errThrift)
	}
	return 0
}

func (t *thrift) int() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (t *thrift) binary() []byte {
	n := t.uvarint()
	if n > uint64(len(t.p)-t.i) {
		t.fail(errShort)
		return nil
	}
	t.i += int(n)
	return t.p[t.i-int(n) : t.i : t.i]
}

// structure calls each for the fields of a structure. If each returns false, it has not read the field, which is then skipped.
func (t *thrift) structure(depth int, each func(id int, kind byte) bool) {
	if depth > maxNesting {
		t.fail(errThrift)
	}
	for id := 0; t.err == nil; {
		head := t.byte()
		if head == 0 {
			return
		}
		if delta := head >> 4; delta > 0 {
			id += int(delta)
		} else {
			id = int(int16(t.int()))
		}
		if kind := head & 15; t.err == nil && !each(id, kind) {
			t.skip(kind, depth+1, false)
		}
	}
}

// list calls each for the items of a list until it returns false; each has to read its item.
func (t *thrift) list(kind byte, each func(kind byte) bool) {
	if kind != thriftList && kind != thriftSet {
		t.fail(errThrift)
		return
	}
	n, of := t.size()
	for ; n > 0 && t.err == nil && each(of); n-- {
	}
}

// size reads the head of a list.
func (t *thrift) size() (n uint64, of byte) {
	head := t.byte()
	if n = uint64(head >> 4); n == 15 {
		n = t.uvarint()
	}
	if n > uint64(len(t.p)-t.i) { // an item has at least a byte
		t.fail(errShort)
	}
	return n, head & 15
}

func (t *thrift) skip(kind byte, depth int, item bool) {
	switch kind {
	case thriftTrue, thriftFalse:
		if item {
			t.byte()
		}
	case thriftByte:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		if len(t.p)-t.i < 8 {
			t.fail(errShort)
			return
		}
		t.i += 8
	case thriftBinary:
		if n := t.uvarint(); n <= uint64(len(t.p)-t.i) {
			t.i += int(n)
		} else if t.jump != nil {
			t.jump(n - uint64(len(t.p)-t.i))
		} else {
			t.fail(errShort)
		}
	case thriftList, thriftSet:
		if depth > maxNesting {
			t.fail(errThrift)
		}
		t.list(kind, func(of byte) bool { t.skip(of, depth+1, true); return true })
	case thriftMap:
		if depth > maxNesting {
			t.fail(errThrift)
		}
		n := t.uvarint()
		if n == 0 {
			return
		}
		kinds := t.byte()
		for ; n > 0 && t.err == nil; n-- {
			t.skip(kinds>>4, depth+1, true)
			t.skip(kinds&15, depth+1, true)
		}
	case thriftStruct:
		t.structure(depth, func(int, byte) bool { return false })
	default:
		t.fail(errThrift)
	}
}

// wants reports whether a field has the type that it should have; if not, it sets the error.
func (t *thrift) wants(kind, want byte) bool {
	if kind != want {
		t.fail(errThrift)
	}
	return kind == want
}

// number reads a field that should be an integer.
func (t *thrift) number(kind byte) int64 {
	switch kind {
	case thriftI16, thriftI32, thriftI64:
		return t.int()
	case thriftByte:
		return int64(int8(t.byte()))
	}
	t.fail(errThrift)
	return 0
}
