package csv

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// From any place that a cutter has reported, a file is cut as before.
func TestContinue_GoesOnAnywhere(t *testing.T) {
	const file = "\ufeff\r\n\na;b\r\n1;2\n\"x\n\ny\";3\n\n4;5\r\n6;\"7\"\"\n\"\n8;9"
	type part struct {
		line uint64
		text string
	}
	cut := func(c *Cutter) (parts []part, places []int64) {
		for {
			from, line, ok := c.Place()
			chunk, first, err := c.Next(nil)
			if err == io.EOF {
				return parts, append(places, from)
			}
			if err != nil || !ok || first != line {
				t.Fatalf("line %d, place says %d, %v: %v", first, line, ok, err)
			}
			places = append(places, from)
			parts = append(parts, part{first, string(chunk)})
		}
	}
	for _, size := range []int{1, 5, 100} {
		c := NewCutter(strings.NewReader(file), ';', size, 1000)
		header, err := c.Header()
		if err != nil {
			t.Fatal(err)
		}
		want, places := cut(c)
		if last := places[len(places)-1]; last != int64(len(file)) {
			t.Fatalf("the last place is %d of %d", last, len(file))
		}
		var all bytes.Buffer
		for _, p := range want {
			all.WriteString(p.text)
		}
		if all.String() != file[places[0]:] {
			t.Fatalf("%d: %q", size, all.String())
		}
		for i, at := range places[:len(want)] {
			for _, h := range [][]byte{header, Marked(header, ';', false)} {
				comma := byte(';')
				if len(h) > len(header) {
					comma = ','
				}
				c, err := Continue(strings.NewReader(file[at:]), h, comma, at, want[i].line, size, 1000)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := cut(c)
				if len(got) != len(want)-i || got[0] != want[i] || got[len(got)-1] != want[len(want)-1] {
					t.Errorf("chunks of %d from byte %d: %v, want %v", size, at, got, want[i:])
				}
			}
		}
	}
}

func TestContinue_RefusesWhatLiesInNoFile(t *testing.T) {
	for _, header := range []string{"", "\x1e,ra,b", "\x1e", "\x1e\"la"} {
		if _, err := Continue(strings.NewReader(""), []byte(header), 0, 0, 2, 1, 1); !errors.Is(err, ErrHeader) {
			t.Errorf("%q: %v", header, err)
		}
	}
	c := NewCutter(strings.NewReader("a,b\r1,2\r"), 0, 100, 100)
	if _, err := c.Header(); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.Place(); ok {
		t.Error("a file whose carriage returns are turned has a place")
	}
}
