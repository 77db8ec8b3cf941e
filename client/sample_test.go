package client

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// TestSamplesOfFormats: keys are also those of lines from the middle of a large file, an empty file may have any name but that of Parquet,
// and of a file that is not what its name says, the error says so.
func TestSamplesOfFormats(t *testing.T) {
	dir := t.TempDir()
	var late bytes.Buffer
	for i := range 60_000 {
		key := "first"
		if i > 20_000 {
			key = "late"
		}
		fmt.Fprintf(&late, "{%q: %d}\n", key, i)
	}
	for name, c := range map[string]struct {
		content []byte
		keys    string // or a part of the error
	}{
		"late.jsonl":      {late.Bytes(), "first late"},
		"bom.jsonl":       {append([]byte("\ufeff"), late.Bytes()...), "first late"},
		"late.csv.gz":     {packed(t, late.Bytes()), "first late"},
		"empty.jsonl":     {nil, "no line at its beginning has a key"},
		"empty.parquet":   {nil, "does not begin as Parquet files do"},
		"text.parquet":    {[]byte("a,b\n1,2\n"), "does not begin as Parquet files do"},
		"text.jsonl":      {[]byte("a,b\n1,2\n"), "the file does not begin with a JSON object"},
		"text.parquet.gz": {packed(t, []byte("a,b\n1,2\n")), ""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		in := &Input{Dir: dir, Named: []Named{{As: "t.csv", Path: path}}}
		samples, err := in.Sampled(during(t, 20*time.Second), protocol.Stream{Name: "t", Files: "t.csv"}, csv.Form{})
		if err != nil {
			if c.keys == "" || !strings.Contains(err.Error(), c.keys) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if keys := strings.Join(samples[0].Keys, " "); len(samples) != 1 || keys != c.keys {
			t.Errorf("%s has the keys %q, want %q", name, keys, c.keys)
		}
	}
}
