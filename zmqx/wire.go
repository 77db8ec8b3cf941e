package zmqx

import (
	"encoding/binary"
	"fmt"
)

// A ZMTP 3 frame, after the handshake:
//
//	+-------+---------------------------+--------- - - -
//	| flags | size: 1 byte, or 8 if LONG| body
//	+-------+---------------------------+--------- - - -
//	flags: 0x01 MORE parts follow, 0x02 LONG size (big endian), 0x04 COMMAND, others 0
const (
	flagMore    = 0x01
	flagLong    = 0x02
	flagCommand = 0x04
	flagsKnown  = flagMore | flagLong | flagCommand

	shortHeader = 2 // bytes
	longHeader  = 9 // bytes

	// A command is at most a PING with 16 bytes of context, or a READY with a few properties.
	maxCommand = 8 << 10
)

type header struct {
	flags byte
	size  uint64
}

func (h header) more() bool    { return h.flags&flagMore != 0 }
func (h header) command() bool { return h.flags&flagCommand != 0 }

// parseHeader reads a frame header from the front of b and returns its length, 0 if b is too short to tell.
func parseHeader(b []byte) (h header, n int, err error) {
	if len(b) == 0 {
		return h, 0, nil
	}
	h.flags = b[0]
	if h.flags&^flagsKnown != 0 {
		return h, 0, fmt.Errorf("%w: reserved bits in frame flags %#02x", errProtocol, h.flags)
	}
	if h.command() && h.more() {
		return h, 0, fmt.Errorf("%w: command in more than one part", errProtocol)
	}
	if h.flags&flagLong == 0 {
		if len(b) < shortHeader {
			return h, 0, nil
		}
		h.size = uint64(b[1])
		return h, shortHeader, nil
	}
	if len(b) < longHeader {
		return h, 0, nil
	}
	h.size = binary.BigEndian.Uint64(b[1:longHeader])
	return h, longHeader, nil
}

// appendHeader writes the header of a frame of the given size.
func appendHeader(b []byte, flags byte, size int) []byte {
	if size <= 255 {
		return append(b, flags, byte(size))
	}
	b = append(b, flags|flagLong)
	return binary.BigEndian.AppendUint64(b, uint64(size))
}

// admit says whether one more frame may be taken into a message that has parts frames with total bytes so far. It is
// asked before anything is allocated for the frame.
func (l limits) admit(h header, parts, total int) error {
	if h.command() {
		if h.size > maxCommand {
			return fmt.Errorf("%w: command of %d bytes, at most %d", errTooLarge, h.size, maxCommand)
		}
		return nil
	}
	if h.size > uint64(l.frame) {
		return fmt.Errorf("%w: frame of %d bytes, at most %d (MaxFrame)", errTooLarge, h.size, l.frame)
	}
	if parts+1 > l.parts {
		return fmt.Errorf("%w: message of more than %d parts (MaxParts)", errTooLarge, l.parts)
	}
	if total+int(h.size) > l.message {
		return fmt.Errorf("%w: message of more than %d bytes (MaxMessage)", errTooLarge, l.message)
	}
	return nil
}
