package zmqx

import (
	"errors"
	"fmt"
)

// mostDiscarded is the largest message that is read only to be discarded, in bytes. A peer that announces a larger one is
// disconnected.
const mostDiscarded = 1 << 30

// mayDiscard reports whether an error is about a message that is too large and is to be reported to the receiver.
func (f *frameReader) mayDiscard(err error) bool { return f.report && errors.Is(err, errTooLarge) }

// discard drops the rest of a message, from the header of a part on, and reports the size of the whole message. parts and total
// count what came before. It takes no memory but the read buffer, and ReadStall is in force all the time.
func (f *frameReader) discard(parts, total int) ([]Received, error) {
	f.begun = begun{}
	size := uint64(total)
	for {
		h, n, err := parseHeader(f.buf[f.r:f.w])
		if err != nil {
			return nil, err
		}
		if n == 0 {
			if err := f.fill(true); err != nil {
				return nil, err
			}
			continue
		}
		if h.command() && h.size > maxCommand || h.size > mostDiscarded || size+h.size > mostDiscarded || parts == f.lim.parts {
			return nil, fmt.Errorf("%w: part %d of %d bytes", errTooLarge, parts+1, h.size)
		}
		f.r += n
		if err := f.pass(int(h.size)); err != nil {
			return nil, err
		}
		if h.command() {
			continue
		}
		parts++
		size += h.size
		if !h.more() {
			r := f.origin
			r.TooLarge = size
			return []Received{r}, nil
		}
	}
}

// pass reads n bytes and forgets them.
func (f *frameReader) pass(n int) error {
	ahead := min(n, f.w-f.r)
	f.r += ahead
	for n -= ahead; n > 0; {
		f.r, f.w = 0, 0 // the buffer is empty
		got, err := f.read(f.buf[:min(n, len(f.buf))], true)
		n -= got
		if err != nil && n > 0 {
			return within(err)
		}
	}
	return nil
}
