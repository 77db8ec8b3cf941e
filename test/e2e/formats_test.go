package e2e

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

// form is another way to write a CSV file.
type form struct {
	name  string
	write func(t *testing.T, path string, text []byte) // in place of the file at path
}

// packedWith is a form that a compressor makes.
func packedWith(suffix string, open func(io.Writer) (io.WriteCloser, error)) form {
	return form{suffix, func(t *testing.T, path string, text []byte) {
		var b bytes.Buffer
		for _, half := range [][]byte{text[:len(text)/2], text[len(text)/2:]} { // two members, or frames
			w, err := open(&b)
			if err == nil {
				_, err = w.Write(half)
			}
			if err == nil {
				err = w.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		put(t, path+suffix, b.Bytes())
		if suffix == "" {
			return
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}}
}

var forms = []form{
	packedWith(".gz", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }),
	packedWith(".zst", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }),
	packedWith(".lz4", func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil }),
	packedWith("", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) }), // the name does not tell
}

// TestC1_EveryFormGivesTheSameAnswers: what the files of an analysis are written in changes no bit of its answers, nor the rejected rows.
func TestC1_EveryFormGivesTheSameAnswers(t *testing.T) {
	c := start(t, topology.Variant{})
	for _, name := range []string{"bikes", "flights", "movies", "memes"} {
		a, err := known().Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range forms {
			t.Run(name+" "+f.name, func(t *testing.T) {
				d := generatedFor(t, name, 1_000)
				for s := range a.Streams {
					paths, err := filepath.Glob(filepath.Join(d.dir, a.Streams[s].Files))
					if err != nil || len(paths) == 0 {
						t.Fatalf("no file of stream %s: %v", a.Streams[s].Name, err)
					}
					for _, path := range paths {
						text, err := os.ReadFile(path)
						if err != nil {
							t.Fatal(err)
						}
						f.write(t, path, text)
					}
				}
				got, err := client.Run(deadline(t, time.Minute), client.Config{Entries: c.topo.EntryPoints(), Analysis: name, Dir: d.dir})
				if err != nil {
					t.Fatal(err)
				}
				d.check(t, queries(t, got))
			})
		}
	}
}
