package csv

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestParseHeader(t *testing.T) {
	for line, want := range map[string][]string{
		"a,b,c":                          {"a", "b", "c"},
		"\xef\xbb\xbfa,b\r\n":            {"a", "b"},
		"\xef\xbb\xbf\"a,b\",\"c\"\"d\"": {"a,b", "c\"d"},
		"a,\"\n\",":                      {"a", "\n", ""},
		"one":                            {"one"},
		"":                               {""},
	} {
		h, err := ParseHeader([]byte(line), 0)
		if err != nil || !slices.Equal(h.names, want) {
			t.Errorf("ParseHeader(%q) = %q, %v; want %q", line, h.names, err, want)
		}
	}
	for _, line := range []string{"a,\"b", "\"a\"b,c", "a,b\nc,d", "\"a\"x\n"} {
		if _, err := ParseHeader([]byte(line), ','); !errors.Is(err, ErrHeader) {
			t.Errorf("ParseHeader(%q): %v, want ErrHeader", line, err)
		}
	}
	for _, comma := range []byte("\"\r\n") {
		if _, err := ParseHeader([]byte("a"), comma); !errors.Is(err, ErrHeader) {
			t.Errorf("separator %q: %v, want ErrHeader", comma, err)
		}
	}
}

func TestFindByName(t *testing.T) {
	h, err := ParseHeader([]byte("a;b;c;b;d"), ';')
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.Find([]Column{{Name: "d"}, {Name: "x", Optional: true}, {Name: "a", Optional: true}})
	if err != nil || !slices.Equal(m.sources, []int{4, -1, 0}) {
		t.Errorf("sources %v, %v", m.sources, err)
	}
	for name, part := range map[string]string{"e": `no column "e"; the file has "a", "b", "c", "b", "d"`, "b": `"b" is there more than once`} {
		if _, err := h.Find([]Column{{Name: name}}); !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), part) {
			t.Errorf("column %s: %v, want %s", name, err, part)
		}
	}
	if _, err := h.Find([]Column{{Name: "b", Optional: true}}); !errors.Is(err, ErrHeader) {
		t.Errorf("an optional column that is there twice: %v, want ErrHeader", err)
	}
}

func TestErrorsAboutAnyHeaderAreShort(t *testing.T) {
	if _, err := ParseHeader(bytes.Repeat([]byte{','}, 8<<20), ','); !errors.Is(err, ErrHeader) {
		t.Errorf("eight million columns: %v, want ErrHeader", err)
	}
	h, err := ParseHeader([]byte(strings.Repeat(strings.Repeat("x", 1000)+",", 5000)), ',')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Find([]Column{{Name: "y"}}); err == nil || len(err.Error()) > 4000 {
		t.Errorf("%d bytes of error", len(err.Error()))
	}
}
