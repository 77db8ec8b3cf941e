package topology

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestOtherSpellings: TOML has several ways to say the same.
func TestOtherSpellings(t *testing.T) {
	const spelled = `
cluster.name = "spread"
cluster.data = '/var/lib/posta'
hosts = { front = { address = "10.0.0.1", bind = "0.0.0.0" }, back = { address = "{node}.posta.internal", ports = 6_000 } }
stage = [
  { name = "way-in", chain = ["input", "parser"], hosts = ["front"] }, # first
  { name = "joiner", replicas = 3 },
  { name = "fold", chain = ["aggregator", "reducer"], replicas = 2, hosts = ["back"] },
  { name = "output", replicas = 2 },
]
edge = [
  { from = "way-in", to = "joiner", streams = "facts", route = "any" },
  { from = "way-in", to = "joiner", streams = "reference", route = "all" },
  { from = "joiner", to = "fold", route = "hash", key = "session" },
  { from = "fold", to = "output", socket = "pub", route = "all" },
]
`
	if got, want := parse(t, spelled), parse(t, twoHosts); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for name, text := range map[string]string{
		"mark": "\ufeff" + twoHosts, "CRLF": strings.ReplaceAll(twoHosts, "\n", "\r\n"), "no last newline": strings.TrimRight(twoHosts, "\n"),
	} {
		if got := parse(t, text); !reflect.DeepEqual(got, parse(t, twoHosts)) {
			t.Errorf("%s changes the topology", name)
		}
	}
}

// TestUnusedHost: a loopback host that no stage names does not stand in the way of real ones.
func TestUnusedHost(t *testing.T) {
	src := strings.Replace(DefaultText(), "[hosts.local]", "[hosts.away]\naddress = \"10.0.0.2\"\n[hosts.local]", 1)
	if _, err := Parse("x.toml", []byte(src)); err != nil {
		t.Error(err)
	}
}

// TestUnreadable: bytes that are not text, or no topology by their size alone.
func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"not UTF-8": {"[hosts.a]\naddress = \"\xff\"\n", "x.toml:2:12: the text is not UTF-8 from here on; save the file as UTF-8"},
		"binary":    {"\x00\x01\x02", "x.toml:1:1: this is not TOML: "},
		"too long": {strings.Repeat("#\n", maxFile),
			"x.toml:1:1: the file has 512KiB, a topology has at most 256KiB; give the topology file"},
		"deep brackets":  {"a = " + strings.Repeat("[", 200<<10), "x.toml:1:"},
		"deep tables":    {"a = " + strings.Repeat("{a=", 60<<10), "x.toml:1:"},
		"key with break": {`"a\nb" = 1`, `x.toml:1:1: "a\u000Ab" stands outside every section`},
	} {
		_, err := Parse("x.toml", []byte(c.src))
		var all Errors
		if !errors.As(err, &all) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %.200v, want %s", name, err, c.want)
		}
	}
}

// FuzzParse: whatever comes, Parse returns; what it takes can be placed, drawn and written, and comes back the same; what
// it refuses names places inside the text.
func FuzzParse(f *testing.F) {
	for _, src := range []string{DefaultText(), twoHosts, "", "[", "a = {b = [1, 2.5, true, 1979-05-27]}", "[[stage]]\n[stage.x]\n[stage]",
		"[hosts]\na.b.c = 1\n[hosts.a.b]"} {
		f.Add([]byte(src))
	}
	for _, v := range pictures {
		src, err := Generate(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(parse(f, src).Source()))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tp, err := Parse("fuzz.toml", src)
		if err != nil {
			var all Errors
			if !errors.As(err, &all) {
				t.Fatalf("%T is not Errors", err)
			}
			checkPlaces(t, strings.TrimPrefix(string(src), "\ufeff"), all)
			return
		}
		if tp.Text() == "" || tp.SVG() == "" || len(tp.EntryPoints()) == 0 || len(tp.Outputs()) == 0 {
			t.Fatalf("accepted and of no use:\n%s", src)
		}
		again, err := Parse("fuzz.toml", []byte(tp.Source()))
		if err != nil {
			t.Fatalf("its own text is refused: %v\n%s", err, tp.Source())
		}
		if !reflect.DeepEqual(tp.View(), again.View()) {
			t.Fatalf("its own text means something else:\n%s", tp.Source())
		}
	})
}
