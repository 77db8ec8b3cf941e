package input

import (
	"hash/crc32"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/protocol"
)

// mostCovered bounds, in bytes, a session's list of taken pieces at one input (R16). A file that goes through one input takes a few pieces.
// If several inputs share a file, each gets about every second chunk; 1 MiB then suffices for some 40,000 chunks.
const mostCovered = 1 << 20

// coveredBytes returns the bound for the list, so that it also fits into a reply.
func (in *Input) coveredBytes() int {
	if frame := int(in.About.Limits.Frame); frame > 0 {
		return min(mostCovered, frame/2)
	}
	return mostCovered
}

// placeOf returns where a chunk comes from, nil if its client does not say.
func placeOf(stream int, req *protocol.Request, sum uint32) *coverage.Chunk {
	if !req.Placed {
		return nil
	}
	return &coverage.Chunk{Stream: stream, File: req.File, Header: crc32.Checksum(req.Header, castagnoli), At: req.At,
		Size: uint64(len(req.Data)), Sum: sum}
}

// cover notes which part of its file a chunk has, in the commit that has the chunk's rows. If a client does not say where a chunk comes
// from, no other client can continue with the upload.
func (u *upload) cover(from *coverage.Chunk, limit int) error {
	if from == nil {
		u.covered.GiveUp()
		return nil
	}
	return u.covered.Add(*from, limit)
}

// appendPlace appends where a chunk comes from to its record.
func appendPlace(b []byte, from *coverage.Chunk) []byte {
	if from == nil {
		return wire.AppendNil(b)
	}
	return coverage.AppendChunk(b, *from)
}

// applyPlace repeats cover in recovery.
func (in *Input) applyPlace(u *upload, d *wire.Reader, size uint64) {
	if d.IsNil() {
		u.covered.GiveUp()
		return
	}
	if from := coverage.ReadChunk(d, len(u.ended), size); d.Err() == nil {
		if err := u.cover(&from, in.coveredBytes()); err != nil {
			d.Fail("%v", err)
		}
	}
}
