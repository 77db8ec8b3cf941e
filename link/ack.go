package link

import (
	"fmt"

	"posta.dev/posta/internal/wire"
)

// Ack tells a sender how far a receiver has got: everything up to Hwm of the log called Log is durable there (R6).
type Ack struct {
	Edge     string
	To       NodeID   // the sender that is told
	Log      LogID    // the sender's log that Hwm counts in; zero if the receiver knows none yet
	Hwm      Seq      // durable at the receiver
	Resend   bool     // the receiver misses Hwm+1 and wants it again
	Receiver NodeID   // the node that acknowledges
	ID       Identity // of the receiver
}

const ackFields = 8

// Append appends the wire form.
func (a *Ack) Append(b []byte) []byte {
	b = wire.AppendArray(b, ackFields)
	b = wire.AppendString(b, a.Edge)
	b = wire.AppendString(b, string(a.To))
	b = wire.AppendBin(b, a.Log[:])
	b = wire.AppendUint(b, uint64(a.Hwm))
	b = wire.AppendBool(b, a.Resend)
	b = wire.AppendString(b, string(a.Receiver))
	b = wire.AppendBin(b, a.ID.LogID[:])
	return wire.AppendUint(b, uint64(a.ID.Incarnation))
}

// DecodeAck reads the wire form.
func DecodeAck(names *Interner, p []byte) (Ack, error) {
	r := wire.NewReader(p)
	var a Ack
	r.ArrayOf(ackFields)
	a.Edge = readName(&r, names)
	a.To = NodeID(readName(&r, names))
	readBlob(&r, a.Log[:])
	a.Hwm = Seq(r.Uint())
	a.Resend = r.Bool()
	a.Receiver = NodeID(readName(&r, names))
	readBlob(&r, a.ID.LogID[:])
	a.ID.Incarnation = Incarnation(r.Uint())
	if err := r.Done(); err != nil {
		return Ack{}, fmt.Errorf("%w: acknowledgement: %w", ErrBadFrame, err)
	}
	return a, nil
}
