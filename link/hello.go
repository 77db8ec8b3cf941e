package link

import (
	"fmt"

	"posta.dev/posta/internal/wire"
)

// HelloPayload is what a Hello says.
type HelloPayload struct {
	To        NodeID // the receiver it is for: on a PUB socket all receivers hear it, and each has its own floor
	Floor     Seq    // the receiver has acknowledged everything up to here, and the sender has dropped it
	FloorLife Life   // that made the frame at Floor; zero if Floor is, or if it is not known any more
	Sent      Seq    // the last number put on the wire before this hello

	// What this very log of the receiver has acknowledged (R14). All three are zero until it has.
	Log   LogID
	Acked Seq
	Life  Life // that made the frame Acked

	// Superseded, if not zero, is a life of the receiver. The sender knows that life's log as replaced, or as opened by another life since.
	// Such a hello says nothing else.
	Superseded Life
}

const helloFields = 8

// Encode returns the payload.
func (h HelloPayload) Encode() []byte {
	b := wire.AppendArray(make([]byte, 0, 80+len(h.To)), helloFields)
	b = wire.AppendString(b, string(h.To))
	b = wire.AppendUint(b, uint64(h.Floor))
	b = wire.AppendUint(b, uint64(h.FloorLife))
	b = wire.AppendUint(b, uint64(h.Sent))
	b = wire.AppendBin(b, h.Log[:])
	b = wire.AppendUint(b, uint64(h.Acked))
	b = wire.AppendUint(b, uint64(h.Life))
	return wire.AppendUint(b, uint64(h.Superseded))
}

// DecodeHello reads the payload of a Hello.
func DecodeHello(p []byte) (HelloPayload, error) {
	r := wire.NewReader(p)
	r.ArrayOf(helloFields)
	h := HelloPayload{To: NodeID(r.String()), Floor: Seq(r.Uint()), FloorLife: Life(r.Uint()), Sent: Seq(r.Uint())}
	readBlob(&r, h.Log[:])
	h.Acked, h.Life, h.Superseded = Seq(r.Uint()), Life(r.Uint()), Life(r.Uint())
	if err := r.Done(); err != nil {
		return HelloPayload{}, fmt.Errorf("%w: hello: %w", ErrBadFrame, err)
	}
	return h, nil
}
