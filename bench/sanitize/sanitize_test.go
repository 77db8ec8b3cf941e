package sanitize

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/oracle/bikesoracle"
)

func TestCSV_WhatStaysAndWhatGoes(t *testing.T) {
	for _, x := range []struct {
		name, in, want string
		dropped        int
	}{
		{"plain", "a,b\n1,2\n", "a,b\n1,2\n", 0},
		{"no newline at the end", "a,b\r\n1,2", "a,b\r\n1,2", 0},
		{"byte order mark", "\xef\xbb\xbfa,b\n1,2\n", "\xef\xbb\xbfa,b\n1,2\n", 0},
		{"quotes", "a,b\n\"x, \"\"y\"\"\r\nz\",2\n", "a,b\n\"x, \"\"y\"\"\r\nz\",2\n", 0},
		{"short and empty rows", "a,b\n1\n\n1,2,3\n\n", "a,b\n1\n\n1,2,3\n\n", 0},
		{"text after a quote", "a,b\n\"1\" x,2\n3,4\n", "a,b\n3,4\n", 1},
		{"the last row", "a,b\n3,4\n\"1\" x,2", "a,b\n3,4\n", 1},
		{"semicolons", "a;b\n1,5;\"2;\"\n\"1\" x;2\n", "a;b\n1,5;\"2;\"\n", 1},
		{"no UTF-8", "a,b\ncaf\xe9,2\n", "a,b\ncaf\ufffd,2\n", 0},
		{"nothing", "", "", 0},
	} {
		var out bytes.Buffer
		n, err := CSV(&out, bytes.NewReader([]byte(x.in)))
		if err != nil || n != x.dropped || out.String() != x.want {
			t.Errorf("%s: %q, %d dropped, %v; want %q, %d", x.name, out.String(), n, err, x.want, x.dropped)
		}
	}
}

// TestDir_OnlyBrokenRecordsAreMissing: for the copy the oracle gives the same answers, and fewer rejected rows: exactly the
// omitted records are missing.
func TestDir_OnlyBrokenRecordsAreMissing(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	if err := gen.Bikes(gen.OnDisk(from), 20_000, 3); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "notes"), []byte("\"a\" b"), 0o644); err != nil {
		t.Fatal(err)
	}
	dropped, err := Dir(from, to)
	if err != nil || dropped == 0 {
		t.Fatalf("%d dropped, %v", dropped, err)
	}
	if b, err := os.ReadFile(filepath.Join(to, "notes")); err != nil || string(b) != "\"a\" b" {
		t.Errorf("a file that is not CSV became %q, %v", b, err)
	}
	before, err := bikesoracle.Run(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	after, err := bikesoracle.Run(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	fewer := 0
	for i := range before.Rejected {
		fewer += int(before.Rejected[i].Rows - after.Rejected[i].Rows)
	}
	if fewer != dropped {
		t.Errorf("%d rows fewer are rejected, %d were left out", fewer, dropped)
	}
	before.Rejected, after.Rejected = nil, nil
	b, errB := before.AppendJSON(nil)
	a, errA := after.AppendJSON(nil)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Error("answers differ")
	}
}
