package e2e

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// attacker is a stranger at one socket of a node.
type attacker struct {
	endpoint string
	kind     topology.Kind
	nodes    []topology.NodeID
	edges    []topology.Edge
	r        *rand.Rand
	held     []net.Conn // connections that stay open until the test ends
	in       int        // connections of the current attack
}

// attacks are what strangers do, each at every socket of every node. None forges a node's exact messages: without
// authentication nothing could detect that.
var attacks = []struct {
	name string
	do   func(*attacker)
}{
	{"silence", func(a *attacker) { a.many(80, func(int) []byte { return nil }, true) }},
	{"half a handshake", func(a *attacker) {
		whole := append(zmtpGreeting(), zmtpReady(peerOf(a.kind), "me")...)
		a.many(60, func(i int) []byte { return whole[:(i*7)%len(whole)] }, true)
	}},
	{"random bytes", func(a *attacker) { a.many(20, func(int) []byte { return a.noise(1 + a.r.IntN(60_000)) }, false) }},
	{"an HTTP request", func(a *attacker) {
		a.many(5, func(int) []byte { return []byte("GET / HTTP/1.1\r\nHost: posta.example\r\nAccept: */*\r\n\r\n") }, false)
	}},
	{"a malformed READY", func(a *attacker) { a.many(len(badReady), func(i int) []byte { return badReady[i] }, false) }},
	{"frames of 2^63 and less", func(a *attacker) {
		a.guests(8, "", func(i int) []byte { return binary.BigEndian.AppendUint64([]byte{2 | byte(i&1)}, 1<<63>>(4*(i/2))) }, true)
	}},
	{"a stolen identity", func(a *attacker) {
		for _, n := range a.nodes {
			a.guests(4, string(n), func(int) []byte { return zmtpMessage(nil, a.noise(20)) }, false)
		}
	}},
	{"random bytes from a guest", func(a *attacker) { a.guests(20, "", func(int) []byte { return a.noise(1 + a.r.IntN(60_000)) }, false) }},
	{"msgpack bombs", func(a *attacker) { a.guests(len(bombs), "", func(i int) []byte { return a.wrapped(bombs[i]) }, false) }},
	{"garbled frames", func(a *attacker) {
		a.guests(20, "", func(int) (b []byte) {
			for range 50 {
				b = append(b, zmtpMessage(a.garbledFrame(), a.noise(a.r.IntN(3000)))...)
			}
			return b
		}, false)
	}},
	{"garbled requests", func(a *attacker) {
		a.guests(60, "", func(int) []byte { return zmtpMessage(nil, a.garbledRequest()) }, false)
	}},
	{"thousands of subscriptions", func(a *attacker) {
		a.guests(3, "", func(int) (b []byte) {
			for range 2000 {
				b = append(b, zmtpMessage(append([]byte{1}, a.noise(40)...))...)
			}
			return b
		}, false)
	}},
	{"a hundred parts", func(a *attacker) {
		a.guests(3, "", func(int) []byte { return bytes.Repeat([]byte{1, 1, 'x'}, 100_000) }, false)
	}},
	{"hundreds of connects", func(a *attacker) { a.many(250, func(int) []byte { return nil }, false) }},
}

var badReady = [][]byte{
	append(zmtpGreeting(), zmtpReady("NONSENSE", "")...),
	append(zmtpGreeting(), append(zmtpHeader(4, 6), "\x05READY"...)...),
	append(zmtpGreeting(), append(zmtpHeader(4, 9), "\x05READY\xf0So"...)...),
	append(zmtpGreeting(), append(zmtpHeader(4, 22), "\x05READY\x0bSocket-Type\xff\xff\xff\xff"...)...),
	append(zmtpGreeting(), append(zmtpHeader(4, 18), "\x05READY\x0bSocket-Type\x00"...)...),
	append(zmtpGreeting(), 6, 0x80, 0, 0, 0, 0, 0, 0, 0),
	append(zmtpGreeting(), 4, 0),
}

// bombs are msgpack messages that claim more content than they have, or are nested very deep.
var bombs = [][]byte{
	{0xdd, 0xff, 0xff, 0xff, 0xff},                     // an array of 2^32-1
	{0xdf, 0xff, 0xff, 0xff, 0xff},                     // a map
	{0xdb, 0xff, 0xff, 0xff, 0xff},                     // a string
	{0xc6, 0xff, 0xff, 0xff, 0xff},                     // binary
	{0xc9, 0xff, 0xff, 0xff, 0xff, 1},                  // an extension
	bytes.Repeat([]byte{0x91}, 1<<20),                  // arrays in arrays
	bytes.Repeat([]byte{0x81, 0xa1, 'k'}, 300_000),     // maps in maps
	bytes.Repeat([]byte{0xdd, 0, 0, 0xff, 0xff}, 5000), // large arrays in large arrays
	append([]byte{0x82, 0xa4, 't', 'y', 'p', 'e'}, bytes.Repeat([]byte{0x91}, 1<<20)...),
	append([]byte{0x83, 0xa1, 'v', 1, 0xa4, 't', 'y', 'p', 'e', 0xa3, 'e', 'n', 'd', 0xa5, 'l', 'a', 'n', 'e', 's'}, 0xdd, 0xff, 0xff, 0xff,
		0xff),
}

// many opens connections that send something without a handshake.
func (a *attacker) many(n int, what func(i int) []byte, hold bool) {
	for i := range n {
		conn, err := dialRaw(a.endpoint)
		if err != nil {
			continue // refused at once, or the backlog is full
		}
		a.in++
		a.say(conn, what(i), hold)
	}
}

// guests opens connections that send something after a good handshake.
func (a *attacker) guests(n int, identity string, what func(i int) []byte, hold bool) {
	for i := range n {
		conn, err := letIn(a.endpoint, peerOf(a.kind), identity)
		if err != nil {
			continue
		}
		a.in++
		a.say(conn, what(i), hold)
	}
}

func (a *attacker) say(conn net.Conn, what []byte, hold bool) {
	_ = conn.SetDeadline(time.Now().Add(500 * time.Millisecond))
	_, _ = conn.Write(what) // the node may refuse before everything is sent
	if hold {
		a.held = append(a.held, conn)
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(3 * time.Millisecond)) // waits for a refusal or an answer
	_, _ = conn.Read(make([]byte, 4096))
	_ = conn.Close()
}

func (a *attacker) release() {
	for _, c := range a.held {
		_ = c.Close()
	}
	a.held = nil
}

func (a *attacker) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(a.r.Uint32())
	}
	return b
}

// wrapped puts msgpack into the message that the socket expects: a request, a frame's header, or its payload.
func (a *attacker) wrapped(b []byte) []byte {
	if a.kind == topology.KindClient {
		return zmtpMessage(nil, b)
	}
	return append(zmtpMessage(b, nil), zmtpMessage(b[:min(len(b), 100)], b)...)
}

// garbledFrame returns the header of a frame as a node sends it, but of a log that no node has, and with a few bytes changed.
func (a *attacker) garbledFrame() []byte {
	e := a.edges[a.r.IntN(len(a.edges))]
	f := link.Frame{
		Edge: e.Name(), From: a.nodes[a.r.IntN(len(a.nodes))], Seq: link.Seq(a.r.Uint64N(100)), Kind: link.Kind(1 + a.r.IntN(5)),
		Session: session.New(), Stream: a.r.IntN(4),
		ID: link.Identity{Incarnation: link.Incarnation(a.r.Uint32())},
	}
	copy(f.ID.LogID[:], a.noise(16))
	if f.Kind == link.Hello {
		f.Kind = link.Data // a well-formed hello of another log would look like a node that lost its disk
	}
	return a.garbled(f.AppendHeader(nil))
}

func (a *attacker) garbledRequest() []byte {
	q := protocol.Request{
		Type:    []protocol.RequestType{protocol.Open, protocol.Chunk, protocol.End, protocol.Results, protocol.Ping, protocol.Info}[a.r.IntN(6)],
		Session: session.New(), Token: session.NewToken(), Analysis: "bikes", Stream: "trips", Seq: 1, File: "x/trips.csv", Line: 2,
		Header: []byte("a,b"), Data: a.noise(100),
	}
	if q.Type == protocol.Open {
		q.Analysis = "trams" // otherwise strangers would take the places of limits.sessions, as any client may
	}
	return a.garbled(q.Append(nil))
}

func (a *attacker) garbled(b []byte) []byte {
	for range 1 + a.r.IntN(4) {
		b[a.r.IntN(len(b))] = byte(a.r.Uint32())
	}
	if a.r.IntN(4) == 0 {
		b = b[:a.r.IntN(len(b))]
	}
	return b
}
