package client

import (
	"fmt"
	"testing"

	"posta.dev/posta/client/core"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// TestS8_AnIdleInputGetsAFileBeforeABusyOneGetsASecond: this holds whichever lanes ask first. Otherwise one of two inputs could read both
// of two files.
func TestS8_AnIdleInputGetsAFileBeforeABusyOneGetsASecond(t *testing.T) {
	p := newInPlace([][]string{{"/data"}, {"/data"}, {"/other"}}, nil)
	for i := range 4 {
		if !p.offer(&placed{File: core.File{Path: fmt.Sprint("/data/", i), Stamp: protocol.Stamp{Size: uint64(10 - i)}}}) {
			t.Fatal("a file that two inputs read is not offered")
		}
	}
	take := func(input int, want string) <-chan struct{} {
		t.Helper()
		f, changed := p.take(input)
		if got := ""; f != nil {
			if got = f.Path; got != want {
				t.Fatalf("input %d takes %q, want %q", input, got, want)
			}
		} else if want != "" {
			t.Fatalf("input %d takes nothing, want %q", input, want)
		}
		return changed
	}
	take(0, "/data/0")
	left := take(0, "") // left for input 1
	take(2, "")         // input 2 does not read there, so no file is kept for it
	take(1, "/data/1")
	select {
	case <-left:
	default:
		t.Error("an input that may take a second file now is not woken")
	}
	take(0, "/data/2")
	take(0, "") // input 0 has two
	take(1, "/data/3")
}

// TestE13_AnInputGetsManyParts of one file at once, the first ones first.
func TestE13_AnInputGetsManyParts(t *testing.T) {
	p := newInPlace([][]string{{"/data"}, {"/data"}}, []bool{true, false})
	for i := range 2 * partsAtOnce {
		p.offer(&placed{File: core.File{Path: "/data/a", Header: csv.MarkedColumnar([]byte("a"), ',', 16), From: uint64(i) << protocol.PartBits,
			Share: 10}})
	}
	for i := range partsAtOnce {
		if f, _ := p.take(0); f == nil || f.part() != i {
			t.Fatalf("part %d: %+v", i, f)
		}
	}
	if f, _ := p.take(1); f != nil {
		t.Errorf("part %d goes to an input of an older version", f.part())
	}
	if f, _ := p.take(0); f != nil {
		t.Errorf("part %d is one too many", f.part())
	}
}
