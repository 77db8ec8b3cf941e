package e2e

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

// The few bytes of ZMTP 3.0 that a stranger needs to complete a handshake.

func zmtpGreeting() []byte {
	g := make([]byte, 64)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func zmtpHeader(flags byte, size int) []byte {
	if size < 256 {
		return []byte{flags, byte(size)}
	}
	return binary.BigEndian.AppendUint64([]byte{flags | 2}, uint64(size))
}

func zmtpReady(kind, identity string) []byte {
	property := func(b []byte, name, value string) []byte {
		b = append(append(b, byte(len(name))), name...)
		return append(binary.BigEndian.AppendUint32(b, uint32(len(value))), value...)
	}
	body := property(property([]byte("\x05READY"), "Socket-Type", kind), "Identity", identity)
	return append(zmtpHeader(4, len(body)), body...)
}

func zmtpMessage(parts ...[]byte) (b []byte) {
	for i, p := range parts {
		flags := byte(1) // more
		if i == len(parts)-1 {
			flags = 0
		}
		b = append(append(b, zmtpHeader(flags, len(p))...), p...)
	}
	return b
}

// peerOf returns the socket type that talks to a node's socket of a kind.
func peerOf(k topology.Kind) string {
	switch k {
	case topology.KindData:
		return "PUSH"
	case topology.KindClient:
		return "REQ"
	}
	return "SUB"
}

// dialRaw connects to an endpoint of a topology.
func dialRaw(endpoint string) (net.Conn, error) {
	if path, ok := strings.CutPrefix(endpoint, "ipc://"); ok {
		return net.DialTimeout("unix", path, time.Second)
	}
	return net.DialTimeout("tcp", strings.TrimPrefix(endpoint, "tcp://"), time.Second)
}

var errNotLetIn = errors.New("not let in")

// letIn is dialRaw with a valid handshake.
func letIn(endpoint, kind, identity string) (net.Conn, error) {
	conn, err := dialRaw(endpoint)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second)) // a write that fails shows the same
	_, err = conn.Write(append(zmtpGreeting(), zmtpReady(kind, identity)...))
	reply := make([]byte, 64+2)
	if err == nil {
		_, err = io.ReadFull(conn, reply)
	}
	if err == nil {
		_, err = io.ReadFull(conn, make([]byte, reply[65]))
	}
	if err != nil {
		_ = conn.Close()
		return nil, errors.Join(errNotLetIn, err)
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, nil
}
