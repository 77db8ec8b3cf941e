package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vmihailenco/msgpack/v5"
)

// magic is how each journal begins; its digit is the version of the format.
const magic = "posta journal 2\n"

// The file is magic, and then records:
//
//	0         4      5                5+n       9+n
//	+---------+------+----------------+---------+
//	| n       | kind | n bytes        | crc     |
//	+---------+------+----------------+---------+
//
// n and crc are big-endian. crc is the CRC32C of n, kind and the bytes, continued from the crc of the record before; the first one
// continues from that of magic.
const (
	frameHead = 5
	frameTail = 4

	// maxRecord bounds a record's bytes, so that a damaged length takes no memory. Rows come in the parts in which the cluster has sent them,
	// which are smaller.
	maxRecord = 1 << 30
)

type kind byte

const (
	headRecord   kind = 'H' // Header, once, first
	beginRecord  kind = 'B' // Session: a session begins
	warnRecord   kind = 'W' // client.Warning of the session that runs
	rowsRecord   kind = 'R' // rows of its answer: query, width and number as 4 bytes each, and the rows in wire form
	answerRecord kind = 'A' // outcome: the session's answer is complete
	failRecord   kind = 'F' // Failure: the session failed
)

const rowsHead = 12

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame appends a record to dst. sum is that of the record before it.
func frame(dst []byte, k kind, sum uint32, parts ...[]byte) ([]byte, uint32) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	dst = append(dst, byte(k))
	for _, p := range parts {
		dst = append(dst, p...)
	}
	sum = crc32.Update(sum, castagnoli, dst[at:])
	return binary.BigEndian.AppendUint32(dst, sum), sum
}

// errTorn is returned for a record that does not end before the file does, or whose checksum differs.
var errTorn = errors.New("the record is torn or damaged")

// unframe reads a record. left is how many bytes the file has from here. The bytes are valid until memory is used again.
func unframe(in *bufio.Reader, left int64, sum uint32, memory *bytes.Buffer) (k kind, b []byte, now uint32, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, 0, tornAt(err)
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > maxRecord || n > left-frameHead-frameTail {
		return 0, nil, 0, errTorn
	}
	memory.Reset()
	if _, err := io.CopyN(memory, in, n+frameTail); err != nil {
		return 0, nil, 0, tornAt(err)
	}
	b = memory.Bytes()[:n]
	now = crc32.Update(crc32.Update(sum, castagnoli, head[:]), castagnoli, b)
	if now != binary.BigEndian.Uint32(memory.Bytes()[n:]) {
		return 0, nil, 0, errTorn
	}
	return kind(head[4]), b, now, nil
}

func tornAt(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return err
}

// encoded returns a value's bytes. msgpack keeps texts as they are, and paths need not be UTF-8.
func encoded(v any) []byte {
	b, err := msgpack.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("journal: msgpack refuses %T: %v", v, err)) // this cannot happen: all types are known
	}
	return b
}
