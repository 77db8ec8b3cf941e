package link

import (
	"errors"
	"fmt"
	"math"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// Kind is the purpose of a frame.
type Kind uint8

const (
	// Open announces a session on every link, before any other frame of the session.
	Open Kind = iota + 1
	// Data carries rows of a stream.
	Data
	// End ends a stream of a session on this link (R12).
	End
	// Abort ends a session wherever it is (R13).
	Abort
	// Hello has no number and no session: see the package comment.
	Hello
	// TakeOver announces a session again on each link, after its Open: another client continues with it (R17). It is a kind of its own because
	// a receiver that has lost the session with its disk must not open it again (R8).
	TakeOver
)

func (k Kind) String() string {
	names := [...]string{"none", "open", "data", "end", "abort", "hello", "takeover"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Frame is one message on a link. Payload belongs to the frame and never changes once the frame is made.
type Frame struct {
	Edge    string // name of the edge in the topology
	From    NodeID
	ID      Identity // identity of From's log when the frame was sent
	Life    Life     // the life that made the frame: Seq and Life together identify one content (R14); zero for Hello
	Seq     Seq      // zero for Hello
	Kind    Kind
	Session session.ID
	Stream  int // index of the stream in the analysis; for Data and End
	Payload []byte
	Sum     uint32 // computed when the frame is made, and continued over ID when it is sent (R18); see sums
}

// Size is how many bytes a frame takes of a window: its payload and the approximate size of its header.
func (f *Frame) Size() int { return len(f.Payload) + frameOverhead }

const (
	frameOverhead = 96  // bytes, about
	headerFields  = 12  // of the wire form
	maxName       = 256 // bytes
	maxStream     = 255 // the highest number of a stream
)

// ErrBadFrame is wrapped by the errors of [DecodeFrame] and [DecodeAck]: bytes that no node of ours sends.
var ErrBadFrame = errors.New("bad frame")

// AppendHeader appends everything but the payload, which travels as a part of its own so that it is never copied:
//
//	[edge str, from str, log id bin16, incarnation, life, seq, life that made it, kind, session bin16, stream, payload length,
//	 checksum]
//
// Facts about the whole session, such as its opener, are in its announcement and take no space here.
func (f *Frame) AppendHeader(b []byte) []byte {
	b = wire.AppendArray(b, headerFields)
	b = wire.AppendString(b, f.Edge)
	b = wire.AppendString(b, string(f.From))
	b = wire.AppendBin(b, f.ID.LogID[:])
	b = wire.AppendUint(b, uint64(f.ID.Incarnation))
	b = wire.AppendUint(b, uint64(f.ID.Life))
	b = wire.AppendUint(b, uint64(f.Seq))
	b = wire.AppendUint(b, uint64(f.Life))
	b = wire.AppendUint(b, uint64(f.Kind))
	b = wire.AppendBin(b, f.Session[:])
	b = wire.AppendUint(b, uint64(f.Stream))
	b = wire.AppendUint(b, uint64(len(f.Payload)))
	return wire.AppendUint(b, uint64(f.Sum))
}

// Interner turns the bytes of names into strings without an allocation for each frame: the same few names recur. It keeps at most maxNames
// of them, so a peer that invents names cannot fill the memory. One goroutine owns it.
type Interner struct{ seen map[string]string }

const maxNames = 1024

func (n *Interner) intern(b []byte) string {
	if s, ok := n.seen[string(b)]; ok {
		return s
	}
	if n.seen == nil {
		n.seen = make(map[string]string)
	}
	s := string(b)
	if len(n.seen) < maxNames {
		n.seen[s] = s
	}
	return s
}

// DecodeFrame reads a header and returns the frame with the payload, which it does not copy.
func DecodeFrame(names *Interner, header, payload []byte) (Frame, error) {
	r := wire.NewReader(header)
	r.ArrayOf(headerFields)
	f := Frame{Payload: payload}
	f.Edge = readName(&r, names)
	f.From = NodeID(readName(&r, names))
	readBlob(&r, f.ID.LogID[:])
	f.ID.Incarnation = Incarnation(r.Uint())
	f.ID.Life = Life(r.Uint())
	f.Seq = Seq(r.Uint())
	f.Life = Life(r.Uint())
	kind := r.Uint()
	readBlob(&r, f.Session[:])
	stream := r.Uint()
	size := r.Uint()
	sum := r.Uint()
	if err := r.Done(); err != nil {
		return Frame{}, fmt.Errorf("%w: header: %w", ErrBadFrame, err)
	}
	f.Kind, f.Stream, f.Sum = Kind(kind), int(stream), uint32(sum)
	switch {
	case kind < uint64(Open) || kind > uint64(TakeOver):
		return Frame{}, fmt.Errorf("%w: unknown kind %d", ErrBadFrame, kind)
	case stream > maxStream:
		return Frame{}, fmt.Errorf("%w: stream %d", ErrBadFrame, stream)
	case (f.Seq == 0) != (f.Kind == Hello):
		return Frame{}, fmt.Errorf("%w: %s with sequence number %d", ErrBadFrame, f.Kind, f.Seq)
	case sum > math.MaxUint32:
		return Frame{}, fmt.Errorf("%w: checksum %d", ErrBadFrame, sum)
	case size != uint64(len(payload)):
		return Frame{}, fmt.Errorf("%w: %d bytes of payload announced, %d there", ErrBadFrame, size, len(payload))
	}
	return f, nil
}

func readName(r *wire.Reader, names *Interner) string {
	b := r.Bytes()
	if len(b) > maxName {
		b = b[:maxName]
	}
	return names.intern(b)
}

// readBlob fills dst from a bin of exactly its length. Any other length makes the reader fail, so the value is not used.
func readBlob(r *wire.Reader, dst []byte) {
	if b := r.Bytes(); len(b) == len(dst) {
		copy(dst, b)
	} else {
		r.Fail("%d bytes found where %d are wanted", len(b), len(dst))
	}
}
