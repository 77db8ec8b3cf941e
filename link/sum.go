package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Link names a link. To is empty where one outbox serves all receivers of the edge (R10).
type Link struct {
	Edge     string
	From, To NodeID
}

// ErrChanged is wrapped by errors about a frame whose bits have changed in memory or on a disk since it was made
// (R18). [Sender.Reload] and [Sender.Err] return it.
var ErrChanged = errors.New("R18: a frame is not what it was when it was made")

// sums computes the checksums of one link's frames (R18). One goroutine owns it.
//
// The checksum of a frame is CRC32C over
//
//	edge 0 from 0 to 0 │ seq life kind session stream length │ payload │ log id, incarnation, life of the sender
//	                   └ made with the frame, kept in the outbox and in the log ┘  └ added when it is sent
//
// so one number covers the frame's content, its link, and the opening that sends it. The receiver compares it where the frame takes effect.
// Checksums of a transport, or of a broker's disk, were rejected: each covers only a part of the way, and none detects a frame of another
// link.
type sums struct {
	link uint32   // checksum of the link's name, with which every checksum begins
	buf  [42]byte // for the bytes beside the payload; a field, because a local array that is passed to crc32 would be allocated for each frame
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newSums(l Link) sums {
	return sums{link: crc32.Checksum([]byte(l.Edge+"\x00"+string(l.From)+"\x00"+string(l.To)+"\x00"), castagnoli)}
}

// content returns the checksum of a frame as it is made, without the opening that sends it.
func (s *sums) content(f *Frame) uint32 {
	b := s.buf[:0]
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Seq))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Life))
	b = append(b, byte(f.Kind))
	b = append(b, f.Session[:]...)
	b = append(b, byte(f.Stream))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(f.Payload)))
	return crc32.Update(crc32.Update(s.link, castagnoli, b), castagnoli, f.Payload)
}

// sent continues the checksum of a frame with the opening that sends it.
func (s *sums) sent(content uint32, id Identity) uint32 {
	b := append(s.buf[:0], id.LogID[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(id.Incarnation))
	b = binary.LittleEndian.AppendUint64(b, uint64(id.Life))
	return crc32.Update(content, castagnoli, b)
}

// intact compares a frame that has arrived with its checksum.
func (s *sums) intact(f *Frame) bool { return s.sent(s.content(f), f.ID) == f.Sum }

// made compares a frame of an outbox with its checksum.
func (s *sums) made(f *Frame) error {
	if s.content(f) == f.Sum {
		return nil
	}
	return fmt.Errorf("%w: frame %d of edge %s (%s, %d bytes)", ErrChanged, f.Seq, f.Edge, f.Kind, len(f.Payload))
}

// Sealed returns the frame with its checksum as sent; to is that of [Link]. Only tests of nodes/core and nodes/shell
// call it: they make frames without a [Sender].
func (f Frame) Sealed(to NodeID) Frame {
	s := newSums(Link{f.Edge, f.From, to})
	f.Sum = s.sent(s.content(&f), f.ID)
	return f
}
