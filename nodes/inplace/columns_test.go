package inplace

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

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
)

// rowsOfParts is how many rows the file of writeColumns has, in row groups of some 5,000: three parts.
const rowsOfParts = 3*(64<<10) + 10

// writeColumns writes a file of columns with several parts.
func writeColumns(t *testing.T) (root, path string) {
	t.Helper()
	root = t.TempDir()
	path = filepath.Join(root, "data.parquet")
	var file bytes.Buffer
	w := parquet.NewWriter(&file, []string{"n", "text"}, []types.Type{types.Of(types.BigInt), types.Of(types.Text)})
	w.Group = 64 << 10
	for i := range int64(rowsOfParts) {
		if err := w.Row([]protocol.Value{{Kind: protocol.Int, Int: i}, {Text: fmt.Sprint(i % 1000)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return root, path
}

var columnStream = analyses.Stream{Columns: []analyses.Column{{Name: "text"}, {Name: "n"}}}

// wantParts returns the reads of all parts of a file, and the chunks that a client would send, by place.
func wantParts(t *testing.T, path string) (reads []role.Read, chunks map[int64]string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const chunk, most = 100 << 10, 1 << 20
	c, err := parquet.Format{}.Cut(&format.File{At: located{bytes.NewReader(file), int64(len(file))}}, &format.Want{
		Columns: columnStream.Columns, ChunkBytes: chunk, MaxRecord: most,
		Limits: func([]byte) (int, int, error) { return chunk, most, nil }, Sent: func([]byte) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	header, err := c.Header()
	if err != nil {
		t.Fatal(err)
	}
	whole := c.(format.Parted)
	for _, p := range whole.Parts() {
		from := int64(p.Number) << protocol.PartBits
		reads = append(reads, role.Read{ID: role.ReadID(p.Number) + 1, Of: &columnStream, File: "data.csv", Header: header, Part: p.Number,
			Path: path, Stamp: stamp(t, path), From: from, To: from + 1<<protocol.PartBits, Line: p.Line, Chunk: chunk, MaxRecord: most})
	}
	chunks = map[int64]string{}
	at, part := int64(0), 0
	for {
		data, line, err := c.Next(nil)
		if err == io.EOF {
			return reads, chunks
		}
		if err != nil {
			t.Fatal(err)
		}
		if whole.InPart() != part {
			part = whole.InPart()
			at = int64(part) << protocol.PartBits
		}
		chunks[at] = fmt.Sprintf("%d %s", line, data)
		at += int64(len(data))
	}
}

// cutAll reads until all parts have ended, or one has failed.
func cutAll(t *testing.T, r *Reader, reads []role.Read) (chunks map[int64]string, err error) {
	t.Helper()
	chunks = map[int64]string{}
	next, ended := map[role.ReadID]int64{}, 0
	for _, w := range reads {
		next[w.ID] = w.From
	}
	for ended < len(reads) {
		r.Want(reads)
		var p *role.Piece
		select {
		case p = <-r.C(false):
		case <-time.After(time.Minute):
			t.Fatal("nothing is read for a minute")
		}
		switch {
		case p.Err != nil:
			return chunks, p.Err
		case next[p.Read] != p.From:
			t.Fatalf("a piece of read %d from %d, not from %d", p.Read, p.From, next[p.Read])
		case p.Chunk == nil:
			if ended++; p.To != reads[p.Read-1].To {
				t.Fatalf("read %d ends at %d", p.Read, p.To)
			}
		default:
			chunks[p.From] = fmt.Sprintf("%d %s", p.Chunk.Line, p.Chunk.Data)
			if p.To != p.From+int64(len(p.Chunk.Data)) {
				t.Fatalf("a piece of %d bytes from %d to %d", len(p.Chunk.Data), p.From, p.To)
			}
		}
		next[p.Read] = p.To
		r.Release([]*role.Piece{p})
	}
	return chunks, nil
}

// TestE13_PartsOfAFileAreReadSideBySide: all at once, in the chunks in which a client sends them, and from any chunk on.
func TestE13_PartsOfAFileAreReadSideBySide(t *testing.T) {
	root, path := writeColumns(t)
	reads, want := wantParts(t, path)
	if len(reads) != 3 || len(want) < 10 {
		t.Fatalf("%d parts, %d chunks", len(reads), len(want))
	}
	r := New([]string{root}, 3)
	defer r.Close()
	got, err := cutAll(t, r, reads)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%d chunks, and %d are sent; %v", len(got), len(want), err)
	}
	r.Want(nil)
	if r.wg.Wait(); len(r.tables.open) > 0 {
		t.Error("files that nobody reads are open")
	}
	for at := range want {
		part := int(at >> protocol.PartBits)
		later := reads[part]
		later.ID, later.From = 1, at
		from, err := cutAll(t, r, []role.Read{later})
		if err != nil {
			t.Fatalf("from %d: %v", at, err)
		}
		for k, chunk := range want {
			if int(k>>protocol.PartBits) == part && k >= at && from[k] != chunk {
				t.Errorf("from %d: another chunk at %d", at, k)
			}
			if k < at && from[k] != "" {
				t.Errorf("from %d: the chunk at %d is read again", at, k)
			}
		}
		r.Want(nil)
	}
}

// TestE13_PartsThatAreNotAsTheClientSaysAreRefused: nothing of them is handed out.
func TestE13_PartsThatAreNotAsTheClientSaysAreRefused(t *testing.T) {
	root, path := writeColumns(t)
	for name, c := range map[string]struct {
		change func(*role.Read)
		says   string
	}{
		"other columns":    {func(w *role.Read) { w.Header = append(bytes.Clone(w.Header), 'x') }, "other columns"},
		"no such part":     {func(w *role.Read) { w.Part, w.From = 3, 3<<protocol.PartBits }, "no part 3"},
		"within a chunk":   {func(w *role.Read) { w.From++ }, "does not end where rows do"},
		"beyond its end":   {func(w *role.Read) { w.From += 1 << 30 }, "does not end where rows do"},
		"another size":     {func(w *role.Read) { w.Stamp.Size++ }, "has changed"},
		"another time":     {func(w *role.Read) { w.Stamp.Modified++ }, "has changed"},
		"no such column":   {func(w *role.Read) { w.Of = &analyses.Stream{Columns: []analyses.Column{{Name: "none"}}} }, "none"},
		"outside of roots": {func(w *role.Read) { w.Path = "/etc/passwd" }, "below no root"},
	} {
		r := New([]string{root}, 1)
		reads, _ := wantParts(t, path)
		reads = reads[:1]
		c.change(&reads[0])
		if got, err := cutAll(t, r, reads); len(got) > 0 || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d chunks, %v", name, len(got), err)
		}
		r.Close()
	}
}

// TestE13_APartThatChangesIsNoticed before anything of the change is handed out.
func TestE13_APartThatChangesIsNoticed(t *testing.T) {
	root, path := writeColumns(t)
	reads, want := wantParts(t, path)
	r := New([]string{root}, 1)
	defer r.Close()
	r.Want(reads[:1])
	p := <-r.C(false)
	if err := os.Truncate(path, 1000); err != nil { // nothing is read ahead: p has the only memory
		t.Fatal(err)
	}
	r.Release([]*role.Piece{p})
	if p = <-r.C(false); !errors.Is(p.Err, ErrChanged) {
		t.Errorf("%d chunks, then %v", len(want), p.Err)
	}
}

// TestE13_DamagedColumnsEndAsErrors: of a file with any byte changed, parts end as errors or with other values. Nothing panics or hangs.
func TestE13_DamagedColumnsEndAsErrors(t *testing.T) {
	root, path := writeColumns(t)
	reads, _ := wantParts(t, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	errs := 0
	for i := range 40 {
		at := len(file) - 1 - i*i*7%2000 // most of it is the footer
		if i%4 == 0 {
			at = i * len(file) / 40
		}
		bad := bytes.Clone(file)
		bad[at] ^= byte(1 + i*37)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		for k := range reads {
			reads[k].Stamp = stamp(t, path)
		}
		r := New([]string{root}, 2)
		if _, err := cutAll(t, r, reads); err != nil {
			errs++
		}
		r.Close()
	}
	if errs < 10 {
		t.Errorf("%d of 40 damaged files are refused", errs)
	}
}

// TestR16_PartsHaveRoomInMemoryTogether: as many are read at once as there are cores, fewer if they take much memory, and always one.
func TestR16_PartsHaveRoomInMemoryTogether(t *testing.T) {
	m := &room{left: 100, least: 40, changed: make(chan struct{})}
	over, cancel := contextOver()
	defer cancel()
	if !m.take(over, 1000) || m.take(over, 1) {
		t.Fatal("a large part is not read alone")
	}
	m.give(1000)
	if !m.take(over, 1) || !m.take(over, 50) || m.take(over, 1) {
		t.Fatal("small parts are not read beside each other, or too many are")
	}
	taken := make(chan bool)
	go func() { taken <- m.take(t.Context(), 1) }()
	m.give(50)
	if !<-taken {
		t.Fatal("a part does not get the room of another one")
	}
}

// contextOver returns a context that has ended, so that nothing waits.
func contextOver() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx, cancel
}
