package zmqx

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
)

// clientHello returns what a TLS client sends first.
func clientHello(t testing.TB) []byte {
	t.Helper()
	client, server := net.Pipe()
	defer server.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(client, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"posta/2/data"}}).Handshake()
	}()
	header := make([]byte, recordHeader)
	_, err := io.ReadFull(server, header)
	noError(t, err)
	body := make([]byte, binary.BigEndian.Uint16(header[3:]))
	_, err = io.ReadFull(server, body)
	noError(t, err)
	client.Close()
	<-done
	return append(header, body...)
}

// endlessHello begins a handshake message of nearly 64 KiB, and continues with records of 1 KiB.
func endlessHello() []byte {
	const record = 1 << 10
	message := make([]byte, 1<<20)
	copy(message, []byte{1, 0, 0xff, 0x00})
	var b []byte
	for ; len(message) >= record; message = message[record:] {
		b = append(b, 22, 3, 1, record>>8, record&0xff)
		b = append(b, message[:record]...)
	}
	return b
}

// memory returns what connections cost: the heap, and the stacks of their goroutines.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestS7_WhatAStrangerCosts: a connection whose peer has not proven its identity costs at most 64 KiB, whatever it sends and wherever it
// stops.
func TestS7_WhatAStrangerCosts(t *testing.T) {
	hello := clientHello(t)
	for name, says := range map[string][]byte{
		"nothing": nil, "a byte": hello[:1], "half a greeting": hello[:len(hello)/2], "a greeting": hello,
		"a greeting and the beginning of a record": append(bytes.Clone(hello), 23, 3, 3, maxUnprovenRecord>>8, 0),
		"a long record": append([]byte{22, 3, 1, maxUnprovenRecord >> 8, 0, 1, 0, 0xff, 0}, make([]byte, 3<<10)...),
		"long messages": endlessHello()[:maxUnproven-1],
	} {
		t.Run(name, func(t *testing.T) {
			const strangers = 300
			k := newKeyring(t)
			o := Options{MaxHandshakes: strangers, HandshakeTimeout: time.Hour}
			pull, address := keyedPull(t, k, o, "tcp://127.0.0.1:0")
			first := rawDial(t, address) // what is allocated only once must not count
			_, err := first.Write(says)
			noError(t, err)
			pending := pull.listeners[0].pending
			waiting := func() int {
				pending.mu.Lock()
				defer pending.mu.Unlock()
				return len(pending.conns)
			}
			await.Until(t, "the first stranger is taken in", func() bool { return waiting() == 1 })
			before := memory()
			var conns []net.Conn
			for range strangers - 1 {
				conn := rawDial(t, address)
				_, err := conn.Write(says)
				noError(t, err)
				conns = append(conns, conn)
			}
			await.Until(t, "all are taken in", func() bool { return waiting() == strangers })
			if bytes.Equal(says, hello) {
				for _, c := range conns { // the answer has arrived, so the server is in the middle of the handshake
					noError(t, c.SetReadDeadline(time.Now().Add(deadlineForTests)))
					_, err := c.Read(make([]byte, 1))
					noError(t, err)
				}
			}
			settled := int64(0)
			await.Until(t, "the handshakes have taken what they take", func() bool {
				last := settled
				settled = memory()
				return settled <= last
			})
			each := (settled - before) / strangers
			t.Logf("%d bytes each", each)
			if each > 64<<10 {
				t.Errorf("a stranger costs %d bytes", each)
			}
		})
	}
}

// slowLog is a log whose disk is busy: each record takes a millisecond.
type slowLog struct{ slog.Handler }

func (slowLog) Enabled(context.Context, slog.Level) bool { return true }

func (slowLog) Handle(context.Context, slog.Record) error {
	time.Sleep(time.Millisecond)
	return nil
}

// TestS7_CrowdsOfStrangers: a thousand connections are silent, stop half-way or flood, while an honest peer is served. The log is slow. So
// if a connection counted as gone before it was closed, there would be visibly more connections than allowed.
func TestS7_CrowdsOfStrangers(t *testing.T) {
	hello, endless := clientHello(t), endlessHello()
	for name, says := range map[string][]byte{"silent": nil, "half-way": hello, "flooding": endless,
		"plain": append(greetingBytes(), readyBytes("PUSH", "")...)} {
		t.Run(name, func(t *testing.T) {
			k := newKeyring(t)
			o := Options{HandshakeTimeout: time.Hour, Logger: slog.New(slowLog{slog.DiscardHandler}),
				Accepts: NewAcceptLimit(100, slog.New(slog.DiscardHandler))}
			pull, address := keyedPull(t, k, o, "tcp://127.0.0.1:0")
			besideAPair(t, pull, address, keyedPush(t, k, Options{}, address), func(t *testing.T, address string, pull *Pull) {
				const limit = 64*(64<<10) + (4 << 20) // 64 strangers, and what the connections of this side cost
				before, most := memory(), int64(0)
				var conns []net.Conn
				for i := range 1000 {
					conn := rawDial(t, address)
					noError(t, conn.SetWriteDeadline(time.Now().Add(deadlineForTests)))
					_, _ = conn.Write(says) // the connection may be cut before everything is written
					conns = append(conns, conn)
					if n := o.Accepts.count(); n > 66 {
						t.Fatalf("%d connections; 64 strangers, the one that comes and the honest peer are allowed", n)
					}
					if i%100 == 99 { // closed connections may need a moment to end on a busy machine
						grown := int64(0)
						await.Until(t, "memory for 64 strangers at most", func() bool { grown = memory() - before; return grown <= limit })
						most = max(most, grown)
					}
				}
				t.Logf("%d KiB at most", most>>10)
				if n := pull.connects(); n != 1 {
					t.Errorf("%d were admitted", n)
				}
				for _, c := range conns[:len(conns)-64] {
					expectClosed(t, c)
				}
			})
		})
	}
}

// TestS7_AStrangerMaySayLittle: TLS itself would accept a record of 16 KiB and a quarter of a megabyte of certificates before it checks
// one.
func TestS7_AStrangerMaySayLittle(t *testing.T) {
	k := newKeyring(t)
	said := newLogs()
	pull, address := keyedPull(t, k, Options{Logger: said.logger(), HandshakeTimeout: deadlineForTests}, "tcp://127.0.0.1:0")
	pair := must[security.Pair](t)(security.NewClient("posta", "mallory", time.Now()))
	certificates := func(size int) tls.Certificate {
		return tls.Certificate{PrivateKey: pair.Key, Certificate: [][]byte{pair.Certificate, make([]byte, size)}}
	}
	for name, mallory := range map[string]func(net.Conn){
		"a long record": func(c net.Conn) { _, _ = c.Write([]byte{22, 3, 1, 0x40, 0}) },
		"endless":       func(c net.Conn) { _, _ = c.Write(endlessHello()) },
		"certificates": func(c net.Conn) {
			_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"posta/2/data"},
				Certificates: []tls.Certificate{certificates(200_000)}}).Handshake()
		},
	} {
		conn := rawDial(t, address)
		mallory(conn)
		expectClosed(t, conn)
		if cause := said.await(t); !errors.Is(cause, errTooLarge) || !errors.Is(cause, ErrRefused) {
			t.Errorf("%s: %v", name, cause)
		}
	}
	if n := pull.connects(); n != 0 {
		t.Errorf("%d were admitted", n)
	}
}
