//go:build !amd64

package words

const hasPrefixes = false

func (*prefixes) next([]byte) (int, uint32) { panic("words: prefixes need vectors") }
