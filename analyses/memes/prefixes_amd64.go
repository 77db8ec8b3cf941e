package memes

import "golang.org/x/sys/cpu"

var hasPrefixes = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// next returns the first place in text, of at least prefixText bytes, where a word may begin, -1 if there is none; and a word
// that is not 0 if there is a byte that is none of ASCII before the place, or in all of text. There may be more behind it.
func (t *prefixes) next(text []byte) (at int, beyond uint32) {
	_ = text[prefixText-1]
	return nextAVX2(t, &text[0], len(text))
}

//go:noescape
func nextAVX2(t *prefixes, p *byte, n int) (at int, beyond uint32)
