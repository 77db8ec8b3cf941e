package wal

// store is the record seam: how frames get into a segment's file. The format is tidwall's either way.
type store interface {
	// openWriter opens the segment for appending. Its file exists, holds whole entries only, and may be empty.
	openWriter(dir string, first Index) (segmentWriter, error)
}

// segmentWriter appends to one segment. After an error of write or sync nothing but undo or close may be called: the memory
// of a writer may be ahead of its file.
type segmentWriter interface {
	write(frames []frame) error
	sync() error
	// undo makes the file end at size again, durably, and closes the writer.
	undo(size int64) error
	close() error
}

// Writer chooses how appended bytes get to the file.
type Writer int

const (
	// DirectWriter, the default, writes tidwall's format itself, with one copy of small parts and none of large ones.
	DirectWriter Writer = iota
	// TidwallWriter appends through tidwall. It copies every byte twice more and keeps the tail segment in memory, in
	// a buffer that it grows step by step. It is the reference of the format: both write the same bytes.
	TidwallWriter
)
