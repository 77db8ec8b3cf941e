package wal

import (
	"fmt"
	"math"

	tidwall "github.com/tidwall/wal"
)

// tidwallStore makes every segment a tidwall log of its own that never cycles (SegmentSize) and never syncs by
// itself. What it does with files is then: open one that we made, append, fsync when told. Nothing here creates,
// renames or truncates, so the crash story is ours alone.
type tidwallStore struct {
	batch   tidwall.Batch // reused over all segments: it grows to the largest Append once
	scratch []byte        // one frame gathered; tidwall takes a record in one piece
}

func (s *tidwallStore) openWriter(dir string, first Index) (segmentWriter, error) {
	path := segmentDir(dir, first)
	l, err := tidwall.Open(path, &tidwall.Options{
		NoSync: true, NoCopy: true, AllowEmpty: true, SegmentSize: math.MaxInt,
		DirPerms: dirPerm, FilePerms: filePerm,
	})
	if err != nil {
		return nil, fmt.Errorf("open segment %s: %w", path, err)
	}
	return &tidwallWriter{store: s, log: l, name: segmentFile(dir, first)}, nil
}

type tidwallWriter struct {
	store *tidwallStore
	log   *tidwall.Log
	name  string
}

func (w *tidwallWriter) write(frames []frame) error {
	s := w.store
	s.batch.Clear()
	for i := range frames {
		s.scratch = frames[i].appendTo(s.scratch[:0])
		s.batch.Write(uint64(frames[i].index), s.scratch)
	}
	return w.log.WriteBatch(&s.batch)
}

func (w *tidwallWriter) sync() error { return w.log.Sync() }

// close syncs once more, inside tidwall. If that fails tidwall leaves its file open for the garbage collector to close.
func (w *tidwallWriter) close() error { return w.log.Close() }

// undo bypasses tidwall, which cannot undo an append.
func (w *tidwallWriter) undo(size int64) error {
	// Its error adds nothing to those of the truncation and its fsync.
	_ = w.close()
	return truncateFile(osFS{}, w.name, size)
}
