package zmqx

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// recorder is a connection that keeps what is written, and counts the writes.
type recorder struct {
	net.Conn
	bytes.Buffer
	writes int
	fault  error
}

func (r *recorder) Write(b []byte) (int, error) {
	r.writes++
	if r.fault != nil {
		return 0, r.fault
	}
	return r.Buffer.Write(b)
}
func (r *recorder) Read([]byte) (int, error)           { return 0, io.EOF }
func (r *recorder) SetWriteDeadline(t time.Time) error { return nil }

func TestFrameWriter_WritesWhatTheReaderReads(t *testing.T) {
	sizes := []int{0, 1, 255, 256, 5000, directSize - 1, directSize, 100_000, writeChunk, writeChunk + 1, 3*writeChunk + 5}
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		largest := 1 + rnd.IntN(len(sizes))
		conn := new(recorder)
		w := newFrameWriter(conn, time.Second)
		var want []byte
		for range 200 {
			parts := make([]string, 1+rnd.IntN(3))
			for i := range parts {
				parts[i] = string(bytes.Repeat([]byte{byte(rnd.Uint32())}, sizes[rnd.IntN(largest)]))
			}
			frame := wireMessage(parts...)
			want = append(want, frame...)
			if !w.add(text(parts...)) {
				noError(t, w.flush())
			}
			if len(want) > 8*mib {
				break
			}
		}
		noError(t, w.flush())
		if !bytes.Equal(conn.Bytes(), want) {
			t.Fatalf("seed %d: the bytes differ", seed)
		}
	}
}

func TestFrameWriter_ManySmallMessagesAreOneWrite(t *testing.T) {
	conn := new(recorder)
	w := newFrameWriter(conn, time.Second)
	m := Message{make([]byte, 60), make([]byte, 256)}
	warm := func() {
		for range 700 {
			if !w.add(m) {
				t.Fatal("full too early")
			}
		}
		noError(t, w.flush())
	}
	for range 3 {
		warm()
	}
	conn.writes = 0
	if warm(); conn.writes != 1 {
		t.Fatalf("700 messages took %d writes", conn.writes)
	}
}

func TestFrameWriter_NothingFollowsAFailedWrite(t *testing.T) {
	broken := errors.New("broken")
	conn := &recorder{fault: broken}
	w := newFrameWriter(conn, time.Second)
	w.add(text("a"))
	if err := w.flush(); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	conn.fault = nil
	w.add(text("b"))
	if err := w.flush(); !errors.Is(err, broken) || conn.Len() > 0 {
		t.Fatalf("%v, %d bytes written", err, conn.Len())
	}
}
