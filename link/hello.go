package link

import (
	"fmt"

	"posta.dev/posta/internal/wire"
)

// HelloPayload is the content of a Hello.
type HelloPayload struct {
	To        NodeID // the receiver that it is for: on a PUB socket all receivers get it, but each has its own floor
	Floor     Seq    // the receiver has acknowledged everything up to here, and the sender has dropped it
	FloorLife Life   // the life that made frame Floor; zero if Floor is zero, or if the life is no longer known
	Sent      Seq    // the last number put on the wire before this hello

	// What the receiver's log Log itself has acknowledged (R14). All three are zero until it has acknowledged a frame.
	Log   LogID
	Acked Seq
	Life  Life // the life that made frame Acked

	// Superseded, if not zero, is a life of the receiver. The sender knows that this life's log was replaced, or that another life has opened
	// it since. The other fields of such a hello mean nothing.
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
