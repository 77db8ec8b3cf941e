package wal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestW1_ARecordAboveMaxRecordIsRefused: the error says why, for a record alone and among others, and the log continues as if the call had
// not been made. The parts are the same MiB a thousand times, so the test needs no gigabyte.
func TestW1_ARecordAboveMaxRecordIsRefused(t *testing.T) {
	w := newWorld(t, tempDir(t), Options{})
	must(t, w.open())
	must(t, w.append(3, "x"))
	piece := make([]byte, 1<<20)
	parts := make([][]byte, MaxRecord/len(piece), MaxRecord/len(piece)+1)
	for i := range parts {
		parts[i] = piece
	}
	large := Record{Type: 1, Parts: append(parts, []byte{1})}
	small := Record{Type: 1, Parts: [][]byte{{1}}}
	for _, records := range [][]Record{{large}, {small, large}, {large, small}} {
		_, err := w.log.Append(records...)
		if want := fmt.Sprintf("%d bytes (at most %d)", MaxRecord+1, MaxRecord); !errors.Is(err, errTooLarge) ||
			!strings.Contains(err.Error(), want) {
			t.Fatalf("%d records: %v", len(records), err)
		}
		if last := w.log.Last(); last != 3 {
			t.Fatalf("the log has %d records", last)
		}
	}
	must(t, w.append(3, "y"))
	w.check("after records that are too large")
	must(t, w.close())
	must(t, w.open())
	w.check("opened again")
	must(t, w.close())
}
