package operators

import "posta.dev/posta/rows/scratch"

// MoveAll makes all rows move to files that can, once more than the limit are kept. What cannot move is not bounded.
func (x *Executor) MoveAll(d scratch.Disk) {
	x.fixed = 64 << 20
	x.SetScratch(d)
}
