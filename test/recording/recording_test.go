package recording

import (
	"encoding/xml"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestScreen(t *testing.T) {
	var s Screen
	at := func(n int) time.Duration { return time.Duration(n) * time.Second }
	s.Write([]byte("$ a\r\nbär [\xe2\x96"), at(1))  // a character in two pieces
	s.Write([]byte("\x88·]\n\x1b[1A\r\x1b"), at(2)) // and a sequence
	s.Write([]byte("[Jbar [██]\ndone\n"), at(3))
	got, err := s.Lines()
	want := []Line{{0, "$ a", at(1), 0}, {1, "bär [", at(1), at(2)}, {1, "bär [█·]", at(2), at(3)}, {1, "bar [██]", at(3), 0},
		{2, "done", at(3), 0}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	s.Write([]byte("\x1b[2J"), at(4))
	if _, err := s.Lines(); err == nil {
		t.Error("a sequence that is not known is ignored")
	}
}

func TestSVG(t *testing.T) {
	picture := SVG([]Line{{0, "$ x <b> & y", 0, 0}, {1, "half", time.Second, 2 * time.Second}}, "a <session>")
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v: %s", err, picture)
		}
	}
	for _, want := range []string{`<title>a &lt;session&gt;</title>`,
		`class="c" xml:space="preserve">$ x &lt;b&gt; &amp; y<set attributeName="visibility" to="hidden" end="0.00s"/>`,
		` visibility="hidden" xml:space="preserve">half<set attributeName="visibility" to="visible" begin="1.00s" end="2.00s"/>`,
		"prefers-color-scheme:dark"} {
		if !strings.Contains(picture, want) {
			t.Errorf("%s is missing in %s", want, picture)
		}
	}
}
