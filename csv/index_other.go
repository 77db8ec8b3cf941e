//go:build !amd64

package csv

// fillBlocks indexes p, whose length is a multiple of 64.
func (x *index) fillBlocks(p []byte, comma byte) { x.fillPortable(p, comma) }
