package words

import "golang.org/x/sys/cpu"

var hasPrefixes = cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// next returns the first place in text where a word may begin, -1 if there is none. text has at least prefixText bytes. beyond
// is not 0 if text has a byte beyond ASCII before the place (anywhere, if there is no place). Further words may begin after the
// place.
func (t *prefixes) next(text []byte) (at int, beyond uint32) {
	_ = text[prefixText-1]
	return nextAVX2(t, &text[0], len(text))
}

//go:noescape
func nextAVX2(t *prefixes, p *byte, n int) (at int, beyond uint32)
