package zmqx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"
)

var smallLimits = limits{frame: 1 << 20, parts: 4, message: 1<<20 + 1<<10}

// naive returns a frame reader without buffers, batches or optimisations. The real one must agree with it.
func naive(b []byte, lim limits) (msgs []Message, commands [][]byte, err error) {
	var m Message
	total := 0
	for len(b) > 0 {
		h, n, err := parseHeader(b)
		if err != nil {
			return msgs, commands, err
		}
		if n == 0 {
			return msgs, commands, io.ErrUnexpectedEOF
		}
		if err := lim.admit(h, len(m), total); err != nil {
			return msgs, commands, err
		}
		if uint64(len(b)-n) < h.size {
			return msgs, commands, io.ErrUnexpectedEOF
		}
		body := b[n : n+int(h.size)]
		b = b[n+len(body):]
		if h.command() {
			commands = append(commands, body)
			continue
		}
		m = append(m, body)
		total += len(body)
		if !h.more() {
			msgs, m, total = append(msgs, m), nil, 0
		}
	}
	if len(m) > 0 {
		return msgs, commands, io.ErrUnexpectedEOF
	}
	return msgs, commands, io.EOF
}

// readAll reads to the end with the real reader.
func readAll(src io.Reader, lim limits) (msgs []Message, commands [][]byte, err error) {
	f := newFrameReader(src, lim)
	f.command = func(body []byte) { commands = append(commands, bytes.Clone(body)) }
	for {
		batch, err := f.next()
		if err != nil {
			return msgs, commands, err
		}
		if len(batch) == 0 || len(batch) > maxBatch {
			return msgs, commands, fmt.Errorf("a batch of %d messages", len(batch))
		}
		for _, r := range batch {
			msgs = append(msgs, r.Msg)
		}
	}
}

// agree compares both readers on one input; cut decides in which pieces the bytes arrive.
func agree(t *testing.T, b []byte, lim limits, cut func(io.Reader) io.Reader) {
	t.Helper()
	wantMsgs, wantCommands, wantErr := naive(b, lim)
	gotMsgs, gotCommands, gotErr := readAll(cut(bytes.NewReader(b)), lim)
	if len(gotMsgs) != len(wantMsgs) {
		t.Fatalf("%d messages, want %d (%v, want %v)", len(gotMsgs), len(wantMsgs), gotErr, wantErr)
	}
	for i := range wantMsgs {
		if len(gotMsgs[i]) != len(wantMsgs[i]) {
			t.Fatalf("message %d has %d parts, want %d", i, len(gotMsgs[i]), len(wantMsgs[i]))
		}
		for k := range wantMsgs[i] {
			if !bytes.Equal(gotMsgs[i][k], wantMsgs[i][k]) {
				t.Fatalf("message %d part %d differs", i, k)
			}
		}
	}
	for _, class := range []error{errProtocol, errTooLarge, io.ErrUnexpectedEOF} {
		if errors.Is(gotErr, class) != errors.Is(wantErr, class) {
			t.Fatalf("error %v, want %v", gotErr, wantErr)
		}
	}
	// If a command is inside an unfinished message, or after it, it may be answered or not: the connection ends anyway.
	if wantErr == io.EOF && len(gotCommands) != len(wantCommands) || len(gotCommands) > len(wantCommands) {
		t.Fatalf("%d commands, want %d", len(gotCommands), len(wantCommands))
	}
	for i := range gotCommands {
		if !bytes.Equal(gotCommands[i], wantCommands[i]) {
			t.Fatalf("command %d differs", i)
		}
	}
}

// pieces returns n bytes at a time, with a new n for each read.
type pieces struct {
	from io.Reader
	rnd  *rand.Rand
	most int
}

func (p *pieces) Read(b []byte) (int, error) {
	return p.from.Read(b[:min(len(b), 1+p.rnd.IntN(p.most))])
}

func cuts(seed uint64) map[string]func(io.Reader) io.Reader {
	return map[string]func(io.Reader) io.Reader{
		"whole":                   func(r io.Reader) io.Reader { return r },
		"data and error together": iotest.DataErrReader,
		"pieces":                  func(r io.Reader) io.Reader { return &pieces{r, rand.New(rand.NewPCG(seed, 1)), 5000} },
	}
}

func TestFrameReader_AgreesWithTheNaiveOne(t *testing.T) {
	sizes := []int{0, 0, 1, 2, 60, 254, 255, 256, 257, 1000, 4095, 4096, 4097, directSize - 1, directSize, directSize + 1,
		firstGrant - 1, firstGrant, firstGrant + 1, maxReadBuffer - 9, maxReadBuffer, maxReadBuffer + 1, 1 << 20}
	for seed := range uint64(24) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		largest := 1 + rnd.IntN(len(sizes))
		var b []byte
		for len(b) < 300_000 {
			if rnd.IntN(10) == 0 {
				b = append(b, command(make([]byte, rnd.IntN(300)))...)
			}
			parts := 1 + rnd.IntN(4)
			budget := smallLimits.message
			for i := range parts {
				size := min(sizes[rnd.IntN(largest)], budget)
				budget -= size
				flags := byte(flagMore)
				if i == parts-1 {
					flags = 0
				}
				b = appendHeader(b, flags, size)
				start := len(b)
				b = append(b, make([]byte, size)...)
				for k := start; k < len(b); k += 97 {
					b[k] = byte(k)
				}
				if rnd.IntN(20) == 0 {
					b = append(b, command([]byte("x"))...)
				}
			}
		}
		if seed%3 == 0 {
			b = b[:rnd.IntN(len(b))]
		}
		if len(b) < 100_000 {
			agree(t, b, smallLimits, iotest.OneByteReader)
		}
		for name, cut := range cuts(seed) {
			t.Run(fmt.Sprint(seed, " ", name), func(t *testing.T) { agree(t, b, smallLimits, cut) })
		}
	}
}

func TestFrameReader_ManyEmptyMessagesComeInBoundedBatches(t *testing.T) {
	agree(t, make([]byte, 2*100_000), smallLimits, func(r io.Reader) io.Reader { return r })
}

func TestFrameReader_WholeMessagesBeforeABadOneAreDelivered(t *testing.T) {
	b := append(wireMessage("good", "one"), 0xff)
	msgs, _, err := readAll(bytes.NewReader(b), smallLimits)
	if len(msgs) != 1 || !errors.Is(err, errProtocol) {
		t.Fatalf("%d messages, %v", len(msgs), err)
	}
}

// FuzzFrameReader: any bytes, in any pieces, cause no panic. The reader returns the same messages as the naive one, and takes no more
// memory than a small multiple of the bytes that came.
func FuzzFrameReader(f *testing.F) {
	f.Add(wireMessage("a", "", "c"), uint16(3))
	f.Add(append(wireMessage("a"), command([]byte("\x04PING\x00\x00"))...), uint16(1))
	f.Add(appendHeader(nil, flagMore, 1<<20), uint16(100))
	f.Add(append([]byte{flagLong}, 0x80, 0, 0, 0, 0, 0, 0, 0), uint16(9))
	f.Add(append(appendHeader(nil, 0, 17_000), make([]byte, 17_000)...), uint16(5000))
	f.Add(bytes.Repeat([]byte{0, 0}, 5000), uint16(4096))
	f.Add(append(appendHeader(nil, 0, directSize-1), make([]byte, directSize-1)...), uint16(0))   // the buffer grew with each byte
	f.Add(append([]byte{flagMore, 0}, bytes.Repeat([]byte{flagCommand, 0}, 8<<10)...), uint16(0)) // and each byte was scanned again
	f.Fuzz(func(t *testing.T, b []byte, most uint16) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := readAll(&pieces{bytes.NewReader(b), rand.New(rand.NewPCG(1, 1)), 1 + int(most)}, smallLimits)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Fatal("no end")
		}
		// 64 bytes of Received and Message for 2 bytes on the wire; the buffer and large frames are doubled; the rest belongs to the test itself.
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 128*uint64(len(b))+1<<20 {
			t.Fatalf("%d bytes cost %d", len(b), cost)
		}
		agree(t, b, smallLimits, func(r io.Reader) io.Reader {
			return &pieces{r, rand.New(rand.NewPCG(uint64(most), 2)), 1 + int(most)}
		})
	})
}

// TestFrameReader_TrustIsEarned: memory for a large frame is allocated as its bytes arrive. It is allocated at once for a peer that has
// delivered such a frame before.
func TestFrameReader_TrustIsEarned(t *testing.T) {
	lim := limits{frame: 64 * mib, parts: 2, message: 65 * mib}
	cost := func(f *frameReader) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = f.next()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	announced := appendHeader(nil, 0, 64*mib)
	if n := cost(newFrameReader(bytes.NewReader(announced), lim)); n > 256<<10 {
		t.Errorf("a header alone cost %d bytes", n)
	}
	frame := append(appendHeader(nil, 0, 4*mib), make([]byte, 4*mib)...)
	f := newFrameReader(bytes.NewReader(append(bytes.Clone(frame), frame...)), lim)
	if n := cost(f); n < 7*mib || n > 9*mib {
		t.Errorf("the first frame of 4 MiB cost %d bytes, want about 8 MiB", n)
	}
	if n := cost(f); n > 4*mib+64<<10 {
		t.Errorf("the second frame of 4 MiB cost %d bytes, want about 4 MiB", n)
	}
}
