package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

var tableOfStdin = protocol.Stream{Name: "-", Files: "stdin"}

func stdinInput(in io.Reader) *Input {
	return NewInput("", []Named{{As: "-", Path: "-"}}, in, 0)
}

// everything reads a stream as a session does.
func everything(ctx context.Context, in *Input, stream protocol.Stream) ([]byte, error) {
	found, err := in.find(ctx, []protocol.Stream{stream}, &warnings{})
	if err != nil {
		return nil, err
	}
	f, err := found[0][0].open(ctx)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(f)
	return all, errors.Join(err, f.Close())
}

func longCSV() []byte {
	var b bytes.Buffer
	b.WriteString("n,text\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "%d,some text of row %d\n", i, i)
	}
	return b.Bytes()
}

// TestSamplesTakeNothingFromAPipe: if a file can be read only once, a session first gets what samples have read of it. A second session
// gets the same if the file ended within the sample or was copied to disk; otherwise it is refused. It never gets only the rest.
func TestSamplesTakeNothingFromAPipe(t *testing.T) {
	short := []byte("n,text\n1,a\n2,b\n")
	columns := append([]byte(parquet.Magic), longCSV()...) // it is copied to disk before it is read at random places
	for name, c := range map[string]struct {
		in      []byte
		sampled bool
		spooled bool
		twice   bool
	}{
		"short":                    {in: short, sampled: true, twice: true},
		"short, not sampled":       {in: short},
		"long":                     {in: longCSV(), sampled: true},
		"long and spooled":         {in: longCSV(), sampled: true, spooled: true, twice: true},
		"long, spooled, no sample": {in: longCSV(), spooled: true, twice: true},
		"columns":                  {in: columns, twice: true},
		"empty":                    {in: nil, twice: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := stdinInput(io.MultiReader(bytes.NewReader(c.in))) // not a file, and it cannot seek
			if c.sampled {
				for range 2 {
					samples, err := in.Sampled(t.Context(), tableOfStdin, csv.Form{})
					if err != nil || len(samples) != 1 || string(samples[0].Header) != "n,text" || len(samples[0].Records) != 1 ||
						!bytes.HasPrefix(samples[0].Records[0], c.in[7:11]) {
						t.Fatalf("%+v, %v", samples, err)
					}
				}
			}
			if c.spooled {
				if err := in.Spool(t.Context(), tableOfStdin); err != nil {
					t.Fatal(err)
				}
			}
			stamps, err := in.Stamps(t.Context(), tableOfStdin)
			if again := c.twice && (c.sampled || c.spooled); err != nil || again != (stamps != nil) {
				t.Errorf("stamps %v, %v; it can be read again: %t", stamps, err, again)
			}
			if all, err := everything(t.Context(), in, tableOfStdin); err != nil || !bytes.Equal(all, c.in) {
				t.Fatalf("%d of %d bytes, %v", len(all), len(c.in), err)
			}
			all, err := everything(t.Context(), in, tableOfStdin)
			if refused := err != nil && strings.Contains(err.Error(), "standard input was read before"); refused == c.twice || c.twice &&
				!bytes.Equal(all, c.in) {
				t.Errorf("again %d bytes, %v", len(all), err)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSamplesOfASilentPipeEnd: samples end with their context, and Close ends a read-ahead that is under way.
func TestSamplesOfASilentPipeEnd(t *testing.T) {
	t.Run("standard input", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		for _, first := range []string{"", "n,t", "n,text\n1,a\n"} {
			if _, err := w.WriteString(first); err != nil {
				t.Fatal(err)
			}
			in := stdinInput(r)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
			defer cancel()
			if _, err := in.Sampled(ctx, tableOfStdin, csv.Form{}); err == nil || err.Error() != "enough" {
				t.Errorf("behind %q: %v", first, err)
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("named pipe", func(t *testing.T) {
		pipe := filepath.Join(t.TempDir(), "p")
		if err := unix.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		in := NewInput("", []Named{{As: "t", Path: pipe}}, nil, 0)
		said := make(chan Warning, 1)
		in.OnWarning = func(w Warning) { said <- w }
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			if w := <-said; w.Path == pipe {
				cancel(errors.New(w.Text))
			}
		}()
		if _, err := in.Sampled(ctx, protocol.Stream{Name: "t", Files: "t/*"}, csv.Form{}); err == nil || err.Error() != noWriter {
			t.Error(err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestNamedFilesOfOneTableDoNotBecomeAnothers: files that are named for one table do not count for another one whose pattern matches them.
func TestNamedFilesOfOneTableDoNotBecomeAnothers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), []byte("x\n"))
	write(t, filepath.Join(dir, "b"), []byte("y\n"))
	in := NewInput("", []Named{{As: "b", Path: filepath.Join(dir, "b")}, {As: "a", Path: filepath.Join(dir, "a")}}, nil, 0)
	for name, want := range map[string]string{"a": "x\n", "b": "y\n"} {
		if all, err := everything(t.Context(), in, protocol.Stream{Name: name, Files: name + "/*"}); err != nil || string(all) != want {
			t.Errorf("%s: %q, %v", name, all, err)
		}
	}
	found, err := (&Input{Named: in.Named}).find(t.Context(), []protocol.Stream{{Name: "a", Files: "*"}, {Name: "b", Files: "b/*"}},
		&warnings{})
	if err != nil || len(found[0]) != 1 || len(found[1]) != 1 || found[1][0].Path != filepath.Join(dir, "b") {
		t.Errorf("%+v, %v", found, err)
	}
}
