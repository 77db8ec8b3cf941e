package zmqx

import (
	"bytes"
	"io"
	"testing"
)

// TestLargeBodyThatLiesInTheBufferInPart: a frame may be larger than the memory that its header alone is granted, and a larger part of it
// may already be in the buffer. None of those bytes may be lost.
func TestLargeBodyThatLiesInTheBufferInPart(t *testing.T) {
	small := bytes.Repeat(wireMessage("a small one"), 100_000) // makes the read buffer grow
	for _, inBuffer := range []int{firstGrant - 1, firstGrant, firstGrant + 1, firstGrant + 5000, 2*firstGrant - 1, 3 * firstGrant} {
		large := make([]byte, 4*firstGrant)
		for i := range large {
			large[i] = byte(i * 7 / 5)
		}
		wire := append(append(bytes.Clone(small), wireMessage(string(large))...), wireMessage("behind")...)
		cut := len(small) + longHeader + inBuffer
		f := newFrameReader(io.MultiReader(bytes.NewReader(small[:len(small)-13]), bytes.NewReader(wire[len(small)-13:cut]),
			bytes.NewReader(wire[cut:])), Options{MaxFrame: 1 << 20, MaxParts: 4, MaxMessage: 1 << 20}.limits())
		var last []Received
		n := 0
		for n < 100_002 {
			batch, err := f.next()
			if err != nil {
				t.Fatalf("%d bytes in the buffer: after %d messages: %v", inBuffer, n, err)
			}
			n += len(batch)
			last = append(last, batch...)
			last = last[max(0, len(last)-2):]
		}
		if !bytes.Equal(last[0].Msg[0], large) || string(last[1].Msg[0]) != "behind" {
			t.Errorf("%d bytes in the buffer: %d bytes of the large message, then %q", inBuffer, len(last[0].Msg[0]), last[1].Msg[0])
		}
	}
}
