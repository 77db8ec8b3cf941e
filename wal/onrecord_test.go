package wal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
)

// TestOnRecord_GetsWhatReplayGives: OnRecord gets the records that Replay gives: after cuts, with a torn tail, over several segments, and
// when a large append makes the disk start writing in its middle.
func TestOnRecord_GetsWhatReplayGives(t *testing.T) {
	dir := tempDir(t)
	var heard []string
	o := Options{SegmentSize: 4 << 20, OnRecord: func(i Index, typ byte, data []byte) {
		heard = append(heard, describe(i, typ, data))
	}}
	l, err := Open(dir, o)
	must(t, err)
	for i := range 5 {
		large := bytes.Repeat([]byte{byte('a' + i)}, writebackEvery/3)
		var recs []Record
		for k := range 4 {
			recs = append(recs, Record{Type: byte(k), Parts: [][]byte{large[:100*i+1], large}})
		}
		_, err := l.Append(append(recs, Record{Type: 9, Parts: [][]byte{{byte(i)}}})...)
		must(t, err)
	}
	must(t, l.Cut(12))
	if l.First() == 1 || len(heard) > 0 {
		t.Fatalf("the log begins with record %d, and a new one has %d records", l.First(), len(heard))
	}
	tail := segmentFile(dir, l.segments[len(l.segments)-1].first)
	must(t, l.Close())
	f, err := os.OpenFile(tail, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("torn")
	must(t, err)
	must(t, f.Close())

	l, err = Open(dir, o)
	must(t, err)
	var replayed []string
	must(t, l.Replay(0, func(i Index, typ byte, data []byte) error {
		replayed = append(replayed, describe(i, typ, data))
		return nil
	}))
	must(t, l.Close())
	if len(replayed) == 0 || !slices.Equal(heard, replayed) {
		t.Fatalf("Open has reported %v, the log holds %v", heard, replayed)
	}
	if last := describe(25, 9, []byte{4}); replayed[len(replayed)-1] != last {
		t.Fatalf("the last record is %s, want %s", replayed[len(replayed)-1], last)
	}
}

func describe(i Index, typ byte, data []byte) string {
	return fmt.Sprintf("%d: type %d, %d bytes of %q", i, typ, len(data), data[0])
}

// TestOnSegment_EndsOpen: a caller that stops Open between two segments gets its own error back, the directory is unchanged, and can be
// opened again.
func TestOnSegment_EndsOpen(t *testing.T) {
	dir := tempDir(t)
	l, err := Open(dir, Options{SegmentSize: 1 << 10})
	must(t, err)
	for range 4 {
		_, err := l.Append(Record{Type: 1, Parts: [][]byte{make([]byte, 900)}})
		must(t, err)
	}
	segments, want := len(l.segments), l.Identity()
	must(t, l.Close())
	before, err := Fingerprint(dir)
	must(t, err)
	enough := errors.New("enough")
	for at := 1; at <= segments; at++ {
		asked := 0
		_, err := Open(dir, Options{OnSegment: func() error {
			if asked++; asked == at {
				return enough
			}
			return nil
		}})
		if !errors.Is(err, enough) || asked != at {
			t.Fatalf("stopped before segment %d of %d, asked %d times: %v", at, segments, asked, err)
		}
	}
	if after, err := Fingerprint(dir); err != nil || after != before {
		t.Errorf("the log was changed (%v)", err)
	}
	want.Incarnation++
	l, err = Open(dir, Options{})
	must(t, err)
	if got := l.Identity(); got.LogID != want.LogID || got.Incarnation != want.Incarnation {
		t.Errorf("opened as %v, want %v", got, want)
	}
	must(t, l.Close())
}
