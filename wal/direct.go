package wal

import (
	"encoding/binary"
	"os"
)

// directStore appends tidwall's binary format without tidwall; reading goes through it.
type directStore struct {
	tidwallStore
	fs  FS
	buf []byte // gathers small pieces; reused over all segments
}

const (
	gatherSize = 256 << 10 // of the buffer: small enough to stay in a core's cache between copy and write
	gatherPart = 32 << 10  // parts from here on are written from where they are: a system call costs less than the copy
)

func (s *directStore) openWriter(dir string, first Index) (segmentWriter, error) {
	f, err := s.fs.OpenFile(segmentFile(dir, first), os.O_WRONLY|os.O_APPEND, filePerm)
	if err != nil {
		return nil, err
	}
	return &directWriter{store: s, file: f}, nil
}

type directWriter struct {
	store *directStore
	file  File
}

func (w *directWriter) write(frames []frame) error {
	w.store.buf = w.store.buf[:0]
	for i := range frames {
		f := &frames[i]
		w.store.buf = binary.AppendUvarint(w.store.buf, uint64(f.size))
		w.store.buf = append(w.store.buf, f.head[:]...)
		for _, p := range f.parts {
			if err := w.part(p); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

func (w *directWriter) part(p []byte) error {
	if len(p) < gatherPart {
		w.store.buf = append(w.store.buf, p...)
		if len(w.store.buf) < gatherSize {
			return nil
		}
		return w.flush()
	}
	if err := w.flush(); err != nil {
		return err
	}
	_, err := w.file.Write(p)
	return err
}

func (w *directWriter) flush() error {
	b := w.store.buf
	w.store.buf = b[:0]
	if len(b) == 0 {
		return nil
	}
	_, err := w.file.Write(b)
	return err
}

func (w *directWriter) sync() error  { return w.file.Sync() }
func (w *directWriter) close() error { return w.file.Close() }
