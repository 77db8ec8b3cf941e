package e2e

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/local"
	"posta.dev/posta/client"
	"posta.dev/posta/test/e2e/truth"
	"posta.dev/posta/topology"
)

// damages are what can happen to users' files.
var damages = []struct {
	name string
	do   func(r *rand.Rand, file []byte) []byte
}{
	{"short rows", func(r *rand.Rand, b []byte) []byte {
		return lines(b, func(i int, l []byte) []byte {
			if i > 0 && i%7 == 0 {
				return l[:bytes.IndexByte(append(slices.Clone(l), ','), ',')]
			}
			return l
		})
	}},
	{"text in every column", func(r *rand.Rand, b []byte) []byte {
		return lines(b, func(i int, l []byte) []byte {
			if i > 0 && i%5 == 0 {
				return bytes.Map(func(c rune) rune {
					if c >= '0' && c <= '9' {
						return 'x'
					}
					return c
				}, l)
			}
			return l
		})
	}},
	{"rubbish in the middle", func(r *rand.Rand, b []byte) []byte {
		rubbish := make([]byte, 3000)
		for i := range rubbish {
			rubbish[i] = byte(r.Uint32())
		}
		return slices.Insert(slices.Clone(b), len(b)/2, rubbish...)
	}},
	{"broken quotes", func(r *rand.Rand, b []byte) []byte {
		return lines(b, func(i int, l []byte) []byte {
			if i > 0 && i%11 == 0 {
				return append([]byte(`"x"y`), l...)
			}
			return l
		})
	}},
	{"empty", func(*rand.Rand, []byte) []byte { return nil }},
	{"header only", func(_ *rand.Rand, b []byte) []byte { return b[:bytes.IndexByte(b, '\n')+1] }},
	{"wrong separator", func(_ *rand.Rand, b []byte) []byte { return bytes.ReplaceAll(b, []byte(","), []byte(":")) }},
	{"bytes of a mark and CRLF", func(_ *rand.Rand, b []byte) []byte {
		b = bytes.TrimPrefix(b, []byte("\ufeff"))
		return append([]byte("\ufeff"), bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))...)
	}},
	{"gzip cut short", func(_ *rand.Rand, b []byte) []byte {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(b) // into memory, which cannot fail
		_ = w.Close()
		return z.Bytes()[:z.Len()*2/3]
	}},
}

func lines(b []byte, change func(i int, line []byte) []byte) []byte {
	var out [][]byte
	for i, l := range bytes.Split(b, []byte("\n")) {
		out = append(out, change(i, l))
	}
	return bytes.Join(out, []byte("\n"))
}

// TestN7_DamagedFiles: whatever the damage to a file, a cluster gives the answer of a single process with the same rejected rows, or one
// clear error. No node dies, and the next session works.
func TestN7_DamagedFiles(t *testing.T) {
	c := start(t, topology.Variant{})
	streams := 0
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		whole := generatedFor(t, name, 2_000)
		a, err := known().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for s := range a.Streams {
			paths, _ := filepath.Glob(filepath.Join(whole.dir, a.Streams[s].Files))
			if len(paths) == 0 {
				t.Fatalf("%s: no file of stream %s", name, a.Streams[s].Name)
			}
			path := paths[0]
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range damages {
				if !*long && (i+streams)%6 != 0 {
					continue // each damage occurs once or twice, and each stream has one or two
				}
				t.Run(strings.Join([]string{name, a.Streams[s].Name, d.name}, " "), func(t *testing.T) {
					put(t, path, d.do(rand.New(rand.NewPCG(uint64(i), 1)), text))
					want, wantErr := local.Run(a, os.DirFS(whole.dir), local.Options{})
					got, gotErr := client.Run(deadline(t), client.Config{Entries: c.topo.EntryPoints(), Analysis: name, Dir: whole.dir})
					switch {
					case wantErr == nil && gotErr == nil:
						(&dataset{want: truth.Queries(t, want)}).check(t, truth.Queries(t, got))
					case gotErr == nil:
						t.Errorf("an answer, where one process says %.200v", wantErr)
					case wantErr == nil:
						t.Errorf("one process has an answer, the cluster says %.300v", gotErr)
					case strings.Contains(gotErr.Error(), "\n") || !strings.Contains(gotErr.Error(), filepath.Base(path)):
						t.Errorf("not one line that names the file: %.300v", gotErr)
					}
				})
			}
			put(t, path, text)
			streams++
		}
		whole.check(t, c.analyse(deadline(t), whole.dir, func(cfg *client.Config) { cfg.Analysis = name }))
	}
	c.noUnexpectedExits()
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
