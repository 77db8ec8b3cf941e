package link

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"posta.dev/posta/internal/wire"
)

// Ack tells a sender what its receiver has stored: everything up to frame Hwm of the sender's log, Log, is durable there (R6).
type Ack struct {
	Edge     string
	To       NodeID   // the sender
	Log      LogID    // the sender's log, in which Hwm counts; zero if the receiver knows none yet
	Hwm      Seq      // durable at the receiver
	HwmLife  Life     // the life that made frame Hwm (R14)
	Echo     Life     // the sender's life as the receiver knows it: a sender ignores acknowledgements for another life
	Resend   bool     // the receiver misses Hwm+1 and wants it again
	Receiver NodeID   // the node that acknowledges
	ID       Identity // of the receiver

	// Superseded says that the receiver knows that Log was replaced, or that another life than Echo has opened it at an equal or higher
	// incarnation (R14). The other fields of such an acknowledgement mean nothing.
	Superseded bool
}

const ackFields = 13 // of the wire form

// Append appends the wire form. Its last field is CRC32C of all bytes before it: a sender drops frames that are
// acknowledged, so a changed number would lose frames.
func (a *Ack) Append(b []byte) []byte {
	start := len(b)
	b = wire.AppendArray(b, ackFields)
	b = wire.AppendString(b, a.Edge)
	b = wire.AppendString(b, string(a.To))
	b = wire.AppendBin(b, a.Log[:])
	b = wire.AppendUint(b, uint64(a.Hwm))
	b = wire.AppendUint(b, uint64(a.HwmLife))
	b = wire.AppendUint(b, uint64(a.Echo))
	b = wire.AppendBool(b, a.Resend)
	b = wire.AppendString(b, string(a.Receiver))
	b = wire.AppendBin(b, a.ID.LogID[:])
	b = wire.AppendUint(b, uint64(a.ID.Incarnation))
	b = wire.AppendUint(b, uint64(a.ID.Life))
	b = wire.AppendBool(b, a.Superseded)
	return wire.AppendBin(b, binary.BigEndian.AppendUint32(nil, crc32.Checksum(b[start:], castagnoli)))
}

const ackSum = 2 + 4 // bytes that the last field of an acknowledgement takes

// DecodeAck reads the wire form.
func DecodeAck(names *Interner, p []byte) (Ack, error) {
	r := wire.NewReader(p)
	var a Ack
	r.ArrayOf(ackFields)
	a.Edge = readName(&r, names)
	a.To = NodeID(readName(&r, names))
	readBlob(&r, a.Log[:])
	a.Hwm = Seq(r.Uint())
	a.HwmLife, a.Echo = Life(r.Uint()), Life(r.Uint())
	a.Resend = r.Bool()
	a.Receiver = NodeID(readName(&r, names))
	readBlob(&r, a.ID.LogID[:])
	a.ID.Incarnation = Incarnation(r.Uint())
	a.ID.Life = Life(r.Uint())
	a.Superseded = r.Bool()
	var sum [4]byte
	readBlob(&r, sum[:])
	if err := r.Done(); err != nil {
		return Ack{}, fmt.Errorf("%w: acknowledgement: %w", ErrBadFrame, err)
	}
	if crc32.Checksum(p[:len(p)-ackSum], castagnoli) != binary.BigEndian.Uint32(sum[:]) {
		return Ack{}, fmt.Errorf("%w: acknowledgement: its checksum differs (R18)", ErrBadFrame)
	}
	return a, nil
}
