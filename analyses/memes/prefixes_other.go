//go:build !amd64

package memes

const hasPrefixes = false

func (*prefixes) next([]byte) (int, uint32) { panic("memes: prefixes need vectors") }
