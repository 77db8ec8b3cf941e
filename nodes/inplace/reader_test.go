package inplace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/filestamp"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const rows = "a,b\n" + "1,2\n\"3\n3\",4\n5,6\n7,8" // a record of two lines; no line end at the end

func write(t *testing.T, text string) (root, path string) {
	t.Helper()
	root = t.TempDir()
	path = filepath.Join(root, "data.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return root, path
}

func stamp(t *testing.T, path string) protocol.Stamp {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return filestamp.Of(info)
}

func want(t *testing.T, path string) role.Read {
	s := stamp(t, path)
	return role.Read{ID: 1, Of: &analyses.Stream{}, File: "data.csv", Header: []byte("a,b"), Part: -1, Path: path, Stamp: s, From: 4,
		To: int64(s.Size), Line: 2, Chunk: 1, MaxRecord: 1000}
}

// all reads until the end or an error.
func all(t *testing.T, r *Reader, w role.Read) (text string, lines []uint64, err error) {
	t.Helper()
	reads := []role.Read{w}
	for at := w.From; ; {
		r.Want(reads)
		var p *role.Piece
		select {
		case p = <-r.C(w.Reference):
		case <-time.After(time.Minute):
			t.Fatal("nothing is read for a minute")
		}
		if p.Read < w.ID { // it belongs to a file that is no longer wanted
			r.Release([]*role.Piece{p})
			continue
		}
		if p.Err != nil {
			return text, lines, p.Err
		}
		if p.From != at || p.Read != w.ID || string(p.Chunk.Header) != string(w.Header) || p.To-p.From != int64(len(p.Chunk.Data)) {
			t.Fatalf("a piece from %d to %d with %d bytes behind %d", p.From, p.To, len(p.Chunk.Data), at)
		}
		text += string(p.Chunk.Data)
		lines = append(lines, p.Chunk.Line)
		at = p.To
		r.Release([]*role.Piece{p})
		if uint64(at) == w.Stamp.Size {
			return text, lines, nil
		}
	}
}

func TestS8_AFileIsReadFromAnyRecordToItsEnd(t *testing.T) {
	root, path := write(t, rows)
	for _, at := range []struct {
		from int64
		line uint64
		rest string
		want []uint64
	}{{4, 2, rows[4:], []uint64{2, 3, 5, 6}}, {8, 3, rows[8:], []uint64{3, 5, 6}}, {20, 6, rows[20:], []uint64{6}}} {
		for _, reference := range []bool{false, true} {
			r := New([]string{"/nowhere", root}, 2)
			w := want(t, path)
			w.From, w.Line, w.Reference = at.from, at.line, reference
			text, lines, err := all(t, r, w)
			if err != nil || text != at.rest || fmt.Sprint(lines) != fmt.Sprint(at.want) {
				t.Errorf("from %d: %q, lines %v, %v", at.from, text, lines, err)
			}
			r.Close()
		}
	}
}

func TestS8_AFileWithoutRowsComesToItsEnd(t *testing.T) {
	root, path := write(t, "a,b\n")
	r := New([]string{root}, 1)
	defer r.Close()
	r.Want([]role.Read{want(t, path)})
	if p := <-r.C(false); p.Err != nil || p.Chunk != nil || p.From != 4 || p.To != 4 {
		t.Errorf("%+v", p)
	}
}

// TestS8_ReadingEndsWhenItIsNotWanted: a file that is no longer wanted is not read further, even if pieces wait.
func TestS8_ReadingEndsWhenItIsNotWanted(t *testing.T) {
	root, path := write(t, "a,b\n"+strings.Repeat("1,2\n", 1000))
	r := New([]string{root}, 2)
	defer r.Close()
	r.Want([]role.Read{want(t, path)})
	p := <-r.C(false)
	r.Want(nil)
	r.Release([]*role.Piece{p})
	again := want(t, path)
	again.ID = 2
	if text, _, err := all(t, r, again); err != nil || len(text) != 4000 {
		t.Errorf("the next one: %d bytes, %v", len(text), err)
	}
	for i := range r.kinds {
		if n := len(r.kinds[i].spare); n != cap(r.kinds[i].spare) {
			t.Errorf("memory of kind %d: %d of %d is there", i, n, cap(r.kinds[i].spare))
		}
	}
}

func TestS8_OnlyRegularFilesBelowRootsAreOpened(t *testing.T) {
	root, path := write(t, rows)
	other, outside := write(t, rows)
	link := func(name, to string) string {
		at := filepath.Join(root, name)
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	pipe := filepath.Join(root, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, says string }{
		"a link out":           {link("out.csv", outside), "escapes"},
		"a link of a link out": {link("twice.csv", "out.csv"), "escapes"},
		"a directory out":      {filepath.Join(link("dir", other), "data.csv"), "escapes"},
		"an absolute link in":  {link("abs.csv", path), "escapes"}, // os.Root follows no absolute link, wherever it leads
		"up and down":          {filepath.Join(root) + "/../" + filepath.Base(other) + "/data.csv", "below no root"},
		"outside":              {outside, "below no root"},
		"a pipe":               {pipe, "not a regular file"},
		"a directory":          {t.TempDir(), "below no root"},
		"the root":             {root, "not a regular file"},
		"nothing":              {filepath.Join(root, "none"), "no such file"},
	} {
		r := New([]string{root}, 1)
		w := want(t, path)
		w.Path = c.path
		if _, _, err := all(t, r, w); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		r.Close()
	}
	r := New([]string{root}, 1)
	defer r.Close()
	w := want(t, path)
	w.Path = link("in.csv", "data.csv")
	if text, _, err := all(t, r, w); err != nil || text != rows[4:] {
		t.Errorf("a link within the root: %q, %v", text, err)
	}
}

// TestS8_AFileThatChangesIsNoticed: if a file changes at any time, its session gets an error before it gets anything of the change.
func TestS8_AFileThatChangesIsNoticed(t *testing.T) {
	text := "a,b\n" + strings.Repeat("1,2\n", 100)
	for name, change := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 204) },
		"appended": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("9,9\n")
			}
			return errors.Join(err, f.Close())
		},
		"touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"replaced": func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			err = os.WriteFile(path+".new", bytes.Repeat([]byte{'9'}, len(text)), 0o600)
			return errors.Join(err, os.Chtimes(path+".new", time.Time{}, info.ModTime()), os.Rename(path+".new", path))
		},
		"removed": os.Remove,
	} {
		for _, after := range []int{0, 1, 50, 97} {
			root, path := write(t, text)
			w := want(t, path)
			r := New([]string{root}, 1)
			pieces, err := 0, error(nil)
			for pieces < after {
				r.Want([]role.Read{w})
				p := <-r.C(false)
				pieces++
				if pieces < after {
					r.Release([]*role.Piece{p})
					continue
				}
				if err := change(path); err != nil { // nothing is read ahead: p has the only memory
					t.Fatal(err)
				}
				r.Release([]*role.Piece{p})
			}
			if after == 0 {
				if err := change(path); err != nil {
					t.Fatal(err)
				}
				r.Want([]role.Read{w})
			}
			for err == nil && pieces <= 100 {
				p := <-r.C(false)
				pieces++
				if err = p.Err; err == nil && string(p.Chunk.Data) != "1,2\n" {
					t.Fatalf("%s after %d pieces: %q is handed out", name, after, p.Chunk.Data)
				}
				r.Release([]*role.Piece{p})
			}
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s after %d pieces: %v", name, after, err)
			}
			if name != "removed" && name != "replaced" && err != nil && !(errors.Is(err, ErrChanged) &&
				strings.Contains(err.Error(), "it was 404 bytes") && strings.Contains(err.Error(), "start the session again")) {
				t.Errorf("%s after %d pieces: %v", name, after, err)
			}
			r.Close()
		}
	}
}

func TestS8_WhatIsNotCSVIsReported(t *testing.T) {
	root, path := write(t, "a,b\n1,2\n\"3,"+strings.Repeat("x", 2000))
	r := New([]string{root}, 2)
	defer r.Close()
	text, _, err := all(t, r, want(t, path))
	if text != "1,2\n" || err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), path) {
		t.Errorf("%q, %v", text, err)
	}
}

// TestPiecesOfOneFileWaitTogether: while the loop is busy, a file is read ahead with all the memory there is, so that its pieces can be
// parsed in parallel.
func TestPiecesOfOneFileWaitTogether(t *testing.T) {
	root, path := write(t, "a,b\n"+strings.Repeat("1,2\n", 1000))
	r := New([]string{root}, 3)
	defer r.Close()
	r.Want([]role.Read{want(t, path)})
	await.Until(t, "three pieces wait", func() bool { return len(r.C(false)) >= 3 })
}

// TestASmallFileTakesLittleMemory: a piece has not the memory of a whole chunk if the file is smaller, and the file is cut in the same
// places, whichever of both is larger.
func TestASmallFileTakesLittleMemory(t *testing.T) {
	root, path := write(t, rows)
	begin := func(chunk int) (*opened, *Cutting) {
		t.Helper()
		w := want(t, path)
		w.Chunk, w.MaxRecord = chunk, 8<<20
		f, err := open([]string{root}, path)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Begin(w, f)
		if err != nil {
			t.Fatal(err)
		}
		return f, c
	}
	for chunk := 1; chunk < len(rows)+3; chunk++ {
		f, c := begin(chunk)
		plain, err := csv.Continue(strings.NewReader(rows[4:]), []byte("a,b"), 0, 4, 2, chunk, 8<<20)
		for err == nil && !c.Done() {
			var p *role.Piece
			var data []byte
			var line uint64
			if p, err = c.Next(nil, false); err == nil {
				data, line, err = plain.Next(nil)
			}
			if err == nil && (!bytes.Equal(p.Chunk.Data, data) || p.Chunk.Line != line) {
				t.Errorf("chunks of %d bytes: %q in line %d, want %q in line %d", chunk, p.Chunk.Data, p.Chunk.Line, data, line)
			}
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Error(err)
		}
	}
	f, c := begin(8 << 20)
	p, err := c.Next(nil, false)
	if err := errors.Join(err, f.Close()); err != nil || cap(p.Chunk.Data) > 128<<10 {
		t.Errorf("%d bytes of memory, %v", cap(p.Chunk.Data), err)
	}
}
