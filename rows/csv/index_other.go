//go:build !amd64

package csv

func indexBlocks(pos []uint16, lines []uint64, p []byte, offset int, comma byte, q *quotes) (n int) {
	return indexPortable(pos, lines, p, offset, comma, q)
}

func endsOfBlocks(p []byte, comma byte, q *quotes) (mask uint64, at int, lines uint64) {
	return endsPortable(p, comma, q)
}
