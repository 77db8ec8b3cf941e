package topology

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pictures are the topologies whose drawings are kept; look at the SVG files when they change.
var pictures = map[string]Variant{
	"default": {},
	"parsers": {SplitParsers: true, IPCDir: "/run/posta"},
	"four":    {Address: "127.0.0.1", Replicas: map[string]int{"input": 4, "joiner": 4, "aggregator": 4, "reducer": 4, "output": 4}},
	"many":    {SplitParsers: true, Replicas: map[string]int{"parser": 12}, Bind: "0.0.0.0", BindPorts: 7000, Address: "posta.example"},
}

func variant(t testing.TB, v Variant) *Topology {
	t.Helper()
	src, err := Generate(v)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, src)
}

func parse(t testing.TB, src string) *Topology {
	t.Helper()
	tp, err := Parse("topology.toml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

func TestPictures(t *testing.T) {
	for name, v := range pictures {
		t.Run(name, func(t *testing.T) {
			tp := variant(t, v)
			golden(t, filepath.Join("testdata/pictures", name+".txt"), tp.Text())
			golden(t, filepath.Join("testdata/pictures", name+".svg"), tp.SVG())
			view, err := json.MarshalIndent(tp.View(), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata/pictures", name+".json"), string(view)+"\n")
		})
	}
}

func TestTwoHostsPicture(t *testing.T) {
	tp := parse(t, twoHosts)
	golden(t, "testdata/pictures/two-hosts.txt", tp.Text())
	golden(t, "testdata/pictures/two-hosts.svg", tp.SVG())
}

// twoHosts is what a variant cannot say: own placement, a container network, PUB to the outputs, a chain of three.
const twoHosts = `
[cluster]
name = "spread"
data = "/var/lib/posta"
[hosts.front]
address = "10.0.0.1"
bind = "0.0.0.0"
[hosts.back]
address = "{node}.posta.internal"
ports = 6000
[[stage]]
name = "way-in"
chain = ["input", "parser"]
hosts = ["front"]
[[stage]]
name = "joiner"
replicas = 3
[[stage]]
name = "fold"
chain = ["aggregator", "reducer"]
replicas = 2
hosts = ["back"]
[[stage]]
name = "output"
replicas = 2
[[edge]]
from = "way-in"
to = "joiner"
streams = "facts"
route = "any"
[[edge]]
from = "way-in"
to = "joiner"
streams = "reference"
route = "all"
[[edge]]
from = "joiner"
to = "fold"
route = "hash"
key = "session"
[[edge]]
from = "fold"
to = "output"
socket = "pub"
route = "all"
`

// TestSVGIsXML also holds for names that XML would read as its own.
func TestSVGIsXML(t *testing.T) {
	odd := variant(t, Variant{IPCDir: `/run/<a>&"b"`})
	for _, tp := range []*Topology{Default(), parse(t, twoHosts), odd} {
		d := xml.NewDecoder(strings.NewReader(tp.SVG()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in:\n%s", err, tp.SVG())
			}
		}
	}
	if !strings.Contains(odd.SVG(), "/run/&lt;a&gt;&amp;") {
		t.Error("the host's directory is not shown")
	}
}

// TestPictureShowsEverything: nothing of a topology may be missing from what people look at.
func TestPictureShowsEverything(t *testing.T) {
	tp := variant(t, Variant{SplitParsers: true})
	text, svg := tp.Text(), tp.SVG()
	for _, n := range tp.Nodes() {
		for _, e := range n.Sockets.List() {
			if !strings.Contains(text, e.short()) || !strings.Contains(svg, e.short()) {
				t.Errorf("%s of %s is not shown", e.short(), n.ID)
			}
		}
		if !strings.Contains(text, string(n.ID)) || !strings.Contains(svg, string(n.ID)) {
			t.Errorf("%s is not shown", n.ID)
		}
	}
	for _, e := range tp.Edges {
		if want := string(e.Socket); !strings.Contains(text, want) || !strings.Contains(svg, e.routeText()) {
			t.Errorf("edge %s is not shown", e)
		}
	}
}

func TestTextFitsItsBoxes(t *testing.T) {
	for _, src := range []string{DefaultText(), twoHosts} {
		width := 0
		for _, l := range strings.Split(parse(t, src).Text(), "\n") {
			if !strings.HasPrefix(l, "┌") && !strings.HasPrefix(l, "│") && !strings.HasPrefix(l, "└") {
				continue
			}
			if n := len([]rune(l)); width == 0 {
				width = n
			} else if n != width {
				t.Errorf("%q has %d columns and the others %d", l, n, width)
			}
		}
		if width == 0 {
			t.Error("no box was drawn")
		}
	}
}

// TestLongNamesStayInTheirBoxes: what is too long for a box is cut, and cut so that it shows.
func TestLongNamesStayInTheirBoxes(t *testing.T) {
	long := "a-name-that-nobody-would-choose"
	src := strings.ReplaceAll(DefaultText(), `"joiner"`, `"`+long+`"`)
	src = strings.Replace(src, `chain = ["`+long+`"]`, `chain = ["joiner"]`, 1)
	src = strings.ReplaceAll(strings.ReplaceAll(src, `"local"`, `"a-host-of-long-name"`), "[hosts.local]", "[hosts.a-host-of-long-name]")
	svg := parse(t, src).SVG()
	if !strings.Contains(svg, ">a-name-that-nobo…<") || strings.Contains(svg, `class="stage">`+long) {
		t.Error("the stage's name is not cut")
	}
	if !strings.Contains(svg, ">a-host-of-lo…<") {
		t.Error("the host's name is not cut")
	}
}
