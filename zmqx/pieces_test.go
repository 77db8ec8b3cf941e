package zmqx

import (
	"bytes"
	"io"
	"runtime"
	"testing"
	"testing/iotest"
)

// costOf returns how many bytes of memory a call takes from the allocator, freed ones included.
func costOf(read func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hostile are bytes of a peer for which a reader could take more memory, or time, than bytes came. Each is about n bytes.
func hostile(n int) map[string][]byte {
	return map[string][]byte{
		"empty messages":                    make([]byte, n),
		"small messages":                    bytes.Repeat([]byte{0, 1, 1}, n/3),
		"commands":                          bytes.Repeat([]byte{flagCommand, 0}, n/2),
		"commands between parts":            append([]byte{flagMore, 0}, bytes.Repeat([]byte{flagCommand, 0}, n/2)...),
		"one part that waits in the buffer": append(appendHeader(nil, 0, min(n, directSize-1)), make([]byte, min(n, directSize-1))...),
		"parts that wait in the buffer":     bytes.Repeat(append(appendHeader(nil, flagMore, n/4), make([]byte, n/4)...), 3),
		"a direct part":                     append(appendHeader(nil, 0, n), make([]byte, n)...),
		"a part that is announced large":    append(appendHeader(nil, 0, 1<<20), make([]byte, n)...),
		"a direct part behind commands": append(append([]byte{flagMore, 0}, bytes.Repeat([]byte{flagCommand, 0}, n/4)...),
			appendHeader(nil, 0, n)...),
		"direct parts and commands": append(append(appendHeader(nil, flagMore, directSize), make([]byte, directSize)...),
			bytes.Repeat([]byte{flagCommand, 0}, n/2)...),
	}
}

// TestR16_BytesThatComeOneByOne: however small the pieces are in which a peer's bytes come, they cost a small multiple of their number in
// memory, as if they had come at once.
func TestR16_BytesThatComeOneByOne(t *testing.T) {
	for name, b := range hostile(16 << 10) {
		cost := costOf(func() { _, _, _ = readAll(iotest.OneByteReader(bytes.NewReader(b)), smallLimits) })
		if cost > 128*uint64(len(b))+256<<10 {
			t.Errorf("%s: %d bytes cost %d", name, len(b), cost)
		}
		agree(t, b, smallLimits, iotest.OneByteReader)
	}
}

// TestR16_AMessageIsScannedOnce: the reader looks at each frame of a message that comes in pieces about once, and not again with each
// piece.
func TestR16_AMessageIsScannedOnce(t *testing.T) {
	for name, b := range hostile(16 << 10) {
		f := newFrameReader(iotest.OneByteReader(bytes.NewReader(b)), smallLimits)
		again := 0 // bytes at which a scan looks that an earlier scan has found to be whole frames
		for range b {
			if err := f.fill(false); err != nil {
				t.Fatal(name, err)
			}
			whole := f.r + f.begun.bytes
			p, err := f.scan()
			if err != nil || p.direct {
				break
			}
			if now := f.r + f.begun.bytes; now < whole && p.end == f.r {
				again += whole - now
			}
			f.take(p)
		}
		if again > 0 {
			t.Errorf("%s: %d bytes are scanned again", name, again)
		}
	}
}

// TestR16_ADiscardedMessageInPieces: what is read only to be discarded costs the buffer.
func TestR16_ADiscardedMessageInPieces(t *testing.T) {
	b := append(appendHeader(nil, 0, 2<<20), make([]byte, 2<<20)...)
	f := newFrameReader(&smallPieces{bytes.NewReader(b)}, smallLimits)
	f.report = true
	if cost := costOf(func() { _, _ = f.next() }); cost > 256<<10 {
		t.Errorf("%d bytes cost %d", len(b), cost)
	}
}

// TestR16_AMessageOfWhichALaterPartIsDiscarded: scan has read the first part when the second one turns out to be too large, and begins
// again behind both.
func TestR16_AMessageOfWhichALaterPartIsDiscarded(t *testing.T) {
	for _, pieces := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r },
		func(r io.Reader) io.Reader { return &smallPieces{r} }} {
		b := append(appendHeader(nil, flagMore, 3), "one"...)
		b = append(appendHeader(b, 0, 2<<20), make([]byte, 2<<20)...)
		b = append(appendHeader(b, 0, 4), "next"...)
		f := newFrameReader(pieces(bytes.NewReader(b)), smallLimits)
		f.report = true
		large, err := f.next()
		if err != nil || len(large) != 1 || large[0].TooLarge != 3+2<<20 {
			t.Fatalf("%v, %v", large, err)
		}
		after, err := f.next()
		if err != nil || len(after) != 1 || string(after[0].Msg[0]) != "next" {
			t.Fatalf("%v, %v", after, err)
		}
	}
}

// smallPieces returns at most 7 bytes at a time.
type smallPieces struct{ io.Reader }

func (s *smallPieces) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), 7)]) }
