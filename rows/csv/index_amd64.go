package csv

import "golang.org/x/sys/cpu"

// hasAVX2 reports whether the machine has the instructions that index_amd64.s needs. Every server since 2013 (Intel) or 2015
// (AMD) has them, but not every emulator.
var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT && cpu.X86.HasPCLMULQDQ

// indexBlocks is indexPortable, with vector instructions if the machine has them.
func indexBlocks(pos []uint16, lines []uint64, p []byte, offset int, comma byte, q *quotes) (n int) {
	if !hasAVX2 || len(p) < 64 {
		return indexPortable(pos, lines, p, offset, comma, q)
	}
	blocks := len(p) / 64
	_, _ = pos[64*blocks+7], lines[blocks-1]
	return indexAVX2(&pos[0], &lines[0], &p[0], blocks, offset, comma, q)
}

// endsOfBlocks is endsPortable, with vector instructions if the machine has them.
func endsOfBlocks(p []byte, comma byte, q *quotes) (mask uint64, at int, lines uint64) {
	if !hasAVX2 || len(p) < 64 {
		return endsPortable(p, comma, q)
	}
	return endsAVX2(&p[0], len(p)/64, comma, q)
}

// indexAVX2 is indexPortable for at least one block.
//
//go:noescape
func indexAVX2(pos *uint16, lines *uint64, p *byte, blocks, offset int, comma byte, q *quotes) (n int)

// endsAVX2 is endsPortable for at least one block.
//
//go:noescape
func endsAVX2(p *byte, blocks int, comma byte, q *quotes) (mask uint64, at int, lines uint64)
