package postgres

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math"
	"sync"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// copyStream is a stream of a query's rows in PostgreSQL's binary format of COPY, with big-endian numbers:
//
//	"PGCOPY\n\xff\r\n\x00"  4 bytes flags (0)  4 bytes length of an extension (0)
//	for each row:  2 bytes number of fields, and for each field 4 bytes length and its bytes; length -1 is NULL
//	2 bytes -1
//
// pgconn may read it in a goroutine that outlives the call of CopyFrom, so a lock guards it.
type copyStream struct {
	mu     sync.Mutex
	next   func() ([]protocol.Value, bool)
	stop   func()
	rows   *copying
	id     session.ID
	number int64 // of the row that was encoded last
	values []types.Type
	block  []byte // rows that were encoded together
	rest   []byte // the part of block that was not read yet
	ended  error  // why nothing follows after rest; nil for now
	wrong  error  // a value that its column does not hold
}

const copyHead = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// blockSize is about how many bytes are encoded at a time.
const blockSize = 64 << 10

var errClosed = errors.New("the rows were closed")

func newCopyStream(c *copying, id session.ID) *copyStream {
	r := &copyStream{rows: c, id: id, values: c.query.ColumnTypes(), rest: []byte(copyHead)}
	r.next, r.stop = iter.Pull(c.query.All())
	return r
}

// Close waits for a Read that runs. Each later Read is an error.
func (r *copyStream) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest, r.ended = nil, errClosed
	r.stop()
}

// notHeld returns the error for a value that its column does not hold. The server's own error has it as text alone.
func (r *copyStream) notHeld() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrong
}

func (r *copyStream) Read(to []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rest) == 0 && r.ended == nil {
		r.encode()
	}
	if len(r.rest) == 0 {
		return 0, r.ended
	}
	n := copy(to, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// encode makes the next rows ready.
func (r *copyStream) encode() {
	b := r.block[:0]
	for len(b) < blockSize {
		row, ok := r.next()
		if !ok {
			if r.ended = r.rows.query.Err(); r.ended == nil {
				b, r.ended = binary.BigEndian.AppendUint16(b, math.MaxUint16), io.EOF
			}
			break
		}
		r.number++
		b = binary.BigEndian.AppendUint16(b, uint16(len(row)+2))
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(r.id))), r.id[:]...)
		b = appendInt(b, r.number)
		for i, v := range row {
			fits := true
			if b, fits = appendField(b, v, r.values[i], r.rows.types[i]); !fits {
				r.wrong = usef("row %d: column %q of type %s does not hold %.40q", r.number, r.rows.query.Columns[i], r.rows.types[i], v.String())
				r.block, r.rest, r.ended = b, nil, r.wrong
				return
			}
			if v.Kind == protocol.Text && fitText(v.Text) != v.Text {
				r.rows.changed++
			}
		}
	}
	r.block, r.rest = b, b
}

func appendInt(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(n))
}

func appendFloat(b []byte, f float64) []byte { return appendInt(b, int64(math.Float64bits(f))) }

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}
