package csv

import "golang.org/x/sys/cpu"

// hasAVX2 says whether the machine has what index_amd64.s needs: every server since 2013 (Intel) or 2015 (AMD), but not
// every emulator.
var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// fillBlocks indexes p, whose length is a multiple of 64.
func (x *index) fillBlocks(p []byte, comma byte) {
	if !hasAVX2 || len(p) == 0 {
		x.fillPortable(p, comma)
		return
	}
	x.n = indexAVX2(&x.pos[0], &x.lines[0], &p[0], len(p)/64, comma)
}

// indexAVX2 writes the positions of separators to pos, up to 8 more than there are, and a word for each block's line feeds to
// lines; it returns the number of separators. There is at least one block.
//
//go:noescape
func indexAVX2(pos *uint16, lines *uint64, p *byte, blocks int, comma byte) (n int)
