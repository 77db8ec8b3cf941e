package brokered

import (
	"encoding/binary"
	"errors"
	"fmt"

	"posta.dev/posta/link"
)

// A message is frames of one link, in order, each as two lengths, its header and its payload:
//
//	┌───────────────┬────────────────┬────────┬─────────┬───────────────┬───
//	│ header u32 LE │ payload u32 LE │ header │ payload │ header u32 LE │ …
//	└───────────────┴────────────────┴────────┴─────────┴───────────────┴───
//
// A broker's work depends on the number of messages more than on bytes, so many small frames are sent as one message. The link's order is
// kept: the frames of a message follow each other on the link, and a message is delivered whole or not at all.

const prefix = 8

// errBadMessage is wrapped by the errors of unpack: no node publishes such bytes.
var errBadMessage = errors.New("bad message")

// Pack returns frames as one message.
func Pack(frames []link.Frame) []byte {
	size := 0
	for i := range frames {
		size += prefix + headerGuess + len(frames[i].Payload)
	}
	b := make([]byte, 0, size)
	for i := range frames {
		f := &frames[i]
		start := len(b)
		b = append(b, make([]byte, prefix)...)
		b = f.AppendHeader(b)
		binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start-prefix))
		binary.LittleEndian.PutUint32(b[start+4:], uint32(len(f.Payload)))
		b = append(b, f.Payload...)
	}
	return b
}

const headerGuess = 128

// unpack returns the frames of a message; their payloads are parts of it. It refuses a damaged message as a whole: without its damaged
// frames the message would look like a gap in the link.
func unpack(names *link.Interner, msg []byte) ([]link.Frame, error) {
	var frames []link.Frame
	for at := 0; at < len(msg); {
		rest := msg[at:]
		if len(rest) < prefix {
			return nil, fmt.Errorf("%w: %d bytes behind the last frame", errBadMessage, len(rest))
		}
		header := uint64(binary.LittleEndian.Uint32(rest))
		end := prefix + header + uint64(binary.LittleEndian.Uint32(rest[4:]))
		if end > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: a frame of %d bytes announced, %d there", errBadMessage, end, len(rest))
		}
		f, err := link.DecodeFrame(names, rest[prefix:prefix+header], rest[prefix+header:end:end])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBadMessage, err)
		}
		frames = append(frames, f)
		at += int(end)
	}
	if frames == nil {
		return nil, fmt.Errorf("%w: it is empty", errBadMessage)
	}
	return frames, nil
}
