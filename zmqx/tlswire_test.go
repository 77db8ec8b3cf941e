package zmqx

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
)

// writes notes the size of each write, and counts the records in it.
type writes struct {
	net.Conn
	sizes   []int
	records int
	largest int // plaintext plus what TLS adds
}

func (w *writes) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	for b := p; len(b) > 0; w.records++ {
		n := recordHeader + int(binary.BigEndian.Uint16(b[3:]))
		w.largest = max(w.largest, n)
		b = b[n:]
	}
	return w.Conn.Write(p)
}

// tlsPair returns the two ends of a connection after the handshake.
func tlsPair(t *testing.T) (sender, receiver *stream, sent *writes) {
	t.Helper()
	k := newKeyring(t)
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	sent = &writes{Conn: a}
	accepted := make(chan *stream)
	go func() {
		s, err := secure(b, k.node(t, "receiver-1").Socket(security.Data, anyone), "", true, new(proof))
		if err != nil {
			t.Error(err)
		}
		accepted <- s
	}()
	sender, err := secure(sent, k.node(t, "sender-1").Socket(security.Data, anyone), "node/receiver-1", false, new(proof))
	noError(t, err)
	return sender, <-accepted, sent
}

// TestTLS_FullRecordsInFewWrites: the number of calls into the kernel depends neither on the sizes of pieces nor on those of records. What
// arrived with one call is read with one call.
func TestTLS_FullRecordsInFewWrites(t *testing.T) {
	sender, receiver, sent := tlsPair(t)
	sent.sizes, sent.records, sent.largest = nil, 0, 0
	var pieces [][]byte
	for i := range 1000 {
		pieces = append(pieces, bytes.Repeat([]byte{byte(i)}, 60+i%3))
	}
	for _, n := range []int{maxRecord - 1, maxRecord, 1, 5 * maxRecord, 0, 300_000} {
		pieces = append(pieces, bytes.Repeat([]byte{byte(n)}, n))
	}
	all := bytes.Join(pieces, nil)
	done := make(chan error, 1)
	go func() { done <- sender.writeAll(pieces) }()
	got, most := make([]byte, 0, len(all)), 0
	for len(got) < len(all) {
		n, err := receiver.Read(got[len(got):cap(got)])
		noError(t, err)
		got, most = got[:len(got)+n], max(most, n)
	}
	noError(t, <-done)
	if !bytes.Equal(got, all) {
		t.Error("something else came out")
	}
	// pieces below and above the size of a record may leave one record half full
	if want := (len(all) + maxRecord - 1) / maxRecord; sent.records > want+1 {
		t.Errorf("%d records, %d would do", sent.records, want)
	}
	perWrite := maxWireBuffer / sent.largest
	if want := (sent.records + perWrite - 1) / perWrite; len(sent.sizes) > want+1 {
		t.Errorf("%d writes, %d would do: %v", len(sent.sizes), want, sent.sizes)
	}
	for _, n := range sent.sizes {
		if n > maxWireBuffer {
			t.Errorf("%d bytes waited for one write", n)
		}
	}
	if most <= maxRecord {
		t.Errorf("a read returned at most %d bytes", most)
	}
	if n := cap(receiver.wire.in); n > maxWireBuffer {
		t.Errorf("the buffer beneath TLS has %d bytes", n)
	}
}

// deadlines counts how often a deadline was set.
type deadlines int

func (d *deadlines) SetReadDeadline(time.Time) error { *d++; return nil }

// TestTLS_ReadStallCountsWhatComesBeneath: a peer on a slow line has ReadStall for each 4 KiB, not only for a whole record. A single byte
// now and then is not enough.
func TestTLS_ReadStallCountsWhatComesBeneath(t *testing.T) {
	var set deadlines
	d := &readDeadline{conn: &set, stall: time.Hour, beneath: true}
	d.cameBeneath(10 * progress) // between messages there is no deadline
	if set != 0 {
		t.Fatalf("%d deadlines between messages", set)
	}
	d.renew()
	noError(t, d.beforeRead(true))
	for range progress - 1 {
		d.cameBeneath(1)
	}
	noError(t, d.afterRead(maxRecord, nil)) // the bytes that come out of TLS have already been counted
	noError(t, d.beforeRead(true))
	if set != 1 {
		t.Fatalf("%d deadlines, and less than %d bytes came", set, progress)
	}
	d.cameBeneath(1)
	if set != 2 {
		t.Fatalf("%d deadlines after %d bytes", set, progress)
	}
	d.cameBeneath(progress)
	if set != 3 {
		t.Fatalf("%d deadlines after %d bytes", set, 2*progress)
	}
}

// TestTLS_StopsInMidMessage: a known peer that stops in the middle of a message loses its connection, as without TLS.
func TestTLS_StopsInMidMessage(t *testing.T) {
	k, told := newKeyring(t), newEvents()
	// Even a busy machine completes an honest handshake in this time, and writes half a message without a pause that counts as a stop.
	o := Options{HandshakeTimeout: time.Minute, ReadStall: time.Second}
	o.OnEvent = told.take
	_, address := keyedPull(t, k, o, "tcp://127.0.0.1:0")
	for _, size := range []int{100, 100_000, 1 << 20} {
		conn := rawDial(t, address)
		client, err := secure(conn, k.node(t, "sender-1").Socket(security.Data, anyone), "node/receiver-1", false, new(proof))
		noError(t, err)
		noError(t, client.writeAll([][]byte{greetingBytes(), readyBytes("PUSH", ""),
			append(appendHeader(nil, 0, size), make([]byte, size/2)...)}))
		expectClosed(t, conn)
		if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errStalled) || gone.From != "node/sender-1" {
			t.Errorf("%d bytes: %+v", size, gone)
		}
	}
}

// TestS3_RefusalsAreSeen: the first refusal is logged at once, and the following ones are not logged one by one.
func TestS3_RefusalsAreSeen(t *testing.T) {
	said := &levels{Handler: slog.DiscardHandler, of: make(chan slog.Level, 100)}
	_, address := keyedPull(t, newKeyring(t), Options{Logger: slog.New(said)}, "tcp://127.0.0.1:0")
	for range 5 {
		conn := rawDial(t, address)
		_, _ = conn.Write(greetingBytes())
		expectClosed(t, conn)
	}
	warned := 0
	for range 5 {
		if <-said.of == slog.LevelWarn {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("%d warnings", warned)
	}
}

// levels keeps the log levels of refused connections.
type levels struct {
	slog.Handler
	of chan slog.Level
}

func (l *levels) Enabled(context.Context, slog.Level) bool { return true }

func (l *levels) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "connection refused" {
		l.of <- r.Level
	}
	return nil
}

// TestS7_AProvenPeerIsNoStranger: a peer with a proven name need not send anything to count as known.
func TestS7_AProvenPeerIsNoStranger(t *testing.T) {
	k := newKeyring(t)
	pull, address := keyedPull(t, k, Options{Known: func(Message) bool { return false }}, "tcp://127.0.0.1:0")
	keyedPush(t, k, Options{}, address)
	await.Until(t, "it connects", func() bool { return pull.peerCount() == 1 })
	for _, p := range pull.allPeers() {
		if !p.known.Load() {
			t.Error("a peer that has proven its name counts as a stranger")
		}
	}
	pull.Recheck()
	plain, _ := newPull(t, Options{}, "tcp://127.0.0.1:0")
	plain.Recheck() // on a plain socket no peer has a name
}
