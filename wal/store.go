package wal

// store is the record seam: how frames get into a segment's file and out again. The format is tidwall's either way.
type store interface {
	// openWriter opens the segment for appending. Its file exists, holds whole entries only, and may be empty.
	openWriter(dir string, first Index) (segmentWriter, error)
	// openReader opens the segment as it is now; what is appended later it does not see. The bytes that Read returns
	// are frames, valid until Close, and not to be changed. One goroutine.
	openReader(dir string, first Index) (segmentReader, error)
}

// segmentWriter appends to one segment. After an error of write or sync nothing but close may be called: the memory
// of a writer may be ahead of its file.
type segmentWriter interface {
	write(frames []frame) error
	sync() error
	close() error
}

type segmentReader interface {
	Read(index uint64) ([]byte, error)
	Close() error
}

// Writer chooses how appended bytes get to the file.
type Writer int

const (
	// TidwallWriter appends through tidwall. It copies every byte twice more and keeps the tail segment in memory, in
	// a buffer that it grows step by step.
	TidwallWriter Writer = iota
	// DirectWriter writes the same bytes to the same file itself, with one copy of small parts and none of large
	// ones. tidwall remains the format and the reader.
	DirectWriter
)
