package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	compact "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"posta.dev/posta/rows/csv"
)

// sample returns a small file with most of what a file may have.
func sample(t testing.TB) []byte {
	group := make(pq.Group)
	var names []string
	for i, k := range kinds {
		name := fmt.Sprintf("%c", 'a'+i)
		names = append(names, name)
		group[name] = pq.Optional(pq.Compressed(pq.Encoded(k.node, k.encodings[i%len(k.encodings)]), codecs[i%len(codecs)]))
	}
	group["z"] = pq.List(pq.Encoded(pq.Int(64), &pq.Plain))
	schema := pq.NewSchema("file", group)
	var rows []pq.Row
	for i := range 60 {
		var row pq.Row
		for c := range names {
			v := kinds[c].value(i).Level(0, 1, c)
			if i%5 == 0 {
				v = pq.NullValue().Level(0, 0, c)
			}
			row = append(row, v)
		}
		rows = append(rows, append(row, pq.Int64Value(1).Level(0, 1, len(names)), pq.Int64Value(2).Level(1, 1, len(names))))
	}
	return written(t, schema, rows, 40)
}

func sampleColumns() (names []string) {
	for i := range kinds {
		names = append(names, fmt.Sprintf("%c", 'a'+i))
	}
	return append(names, "z[1]")
}

// consume reads up to most bytes of rows.
func consume(file []byte, most int, names ...string) (*Cutter, error) {
	var columns []csv.Column
	for _, n := range names {
		columns = append(columns, csv.Column{Name: n, Optional: true})
	}
	c, err := NewCutter(bytes.NewReader(file), int64(len(file)), columns, ',', 64<<10, 1<<20)
	if err == nil {
		err = c.Skip(func([]csv.Range) bool { return false })
	}
	if err != nil {
		return nil, err
	}
	var spare []byte
	for total := 0; total < most; {
		chunk, _, err := c.Next(spare)
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		total += len(chunk)
		spare = chunk
	}
	return c, nil
}

// blameless returns an error if a file did what no file may.
func blameless(c *Cutter, err error) error {
	switch {
	case errors.Is(err, errPanic):
		return fmt.Errorf("a panic: %w", err)
	case err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnread) && !errors.Is(err, ErrColumn) &&
		!errors.Is(err, csv.ErrRecordTooLong):
		return fmt.Errorf("an error of no kind: %w", err)
	case err != nil && strings.ContainsAny(err.Error(), "\n"):
		return fmt.Errorf("an error of several lines: %w", err)
	case c != nil && c.shared.memory.used > MaxMemory:
		return fmt.Errorf("%d bytes of memory", c.shared.memory.used)
	}
	return nil
}

// TestC1_AFileCutAnywhereIsAnError: no beginning of a file is taken for all of it.
func TestC1_AFileCutAnywhereIsAnError(t *testing.T) {
	file := sample(t)
	if c, err := consume(file, 1<<20, sampleColumns()...); err != nil || c.Done != 60 {
		t.Fatal(err)
	}
	for n := range file {
		if c, err := consume(file[:n], 1<<20, sampleColumns()...); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v, %v", n, len(file), err, c)
		}
	}
}

// TestC1_DamagedPagesAreErrors: checksums are compared.
func TestC1_DamagedPagesAreErrors(t *testing.T) {
	file := sample(t)
	footer := len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	undetected := 0
	end := 0 // of what was looked at
	for _, g := range f.Metadata().RowGroups {
		for _, c := range g.Columns {
			m := c.MetaData
			for at := m.DataPageOffset; at < m.DataPageOffset+m.TotalCompressedSize && at < int64(footer); at += 3 {
				damaged := bytes.Clone(file)
				damaged[at] ^= 0x10
				c, err := consume(damaged, 1<<20, sampleColumns()...)
				if err := blameless(c, err); err != nil {
					t.Fatalf("byte %d: %v", at, err)
				}
				if err == nil {
					undetected++
				}
				end++
			}
		}
	}
	// The heads of pages have no checksum, and hold statistics that nobody reads here.
	if end < 2000 || undetected > end/3 {
		t.Errorf("%d of %d damaged bytes were not noticed", undetected, end)
	}
}

func TestC1_MutatedFilesAreErrorsOrRows(t *testing.T) {
	file := sample(t)
	footer := len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	r := rand.New(rand.NewPCG(1, 2))
	for range 4_000 {
		p := bytes.Clone(file)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(p))
			if r.IntN(2) == 0 {
				at = footer + r.IntN(len(p)-footer-4) // most of what matters is there
			}
			p[at] = byte(r.Uint32()) & [...]byte{0xff, 0x7f, 0x0f}[r.IntN(3)]
		}
		c, err := consume(p, 1<<20, sampleColumns()...)
		if err := blameless(c, err); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzCutter(f *testing.F) {
	f.Add(sample(f))
	files, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file.Name(), ".parquet") {
			b, err := os.ReadFile("testdata/" + file.Name())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := consume(file, 1<<20, append(sampleColumns(), "id", "text", "tags[0]", "at.x", "price")...)
		if err := blameless(c, err); err != nil {
			t.Fatal(err)
		}
	})
}

// rewritten returns a file whose footer was changed.
func rewritten(t *testing.T, file []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	m := *f.Metadata()
	change(&m)
	footer, err := compact.Marshal(new(compact.CompactProtocol), &m)
	if err != nil {
		t.Fatal(err)
	}
	at := len(file) - 8 - int(binary.LittleEndian.Uint32(file[len(file)-8:]))
	out := append(bytes.Clone(file[:at]), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

func TestR16_HostileFilesTakeNoMemory(t *testing.T) {
	node := pq.Compressed(pq.Encoded(pq.String(), &pq.RLEDictionary), &pq.Zstd)
	plain := pq.Compressed(pq.Encoded(pq.String(), &pq.Plain), &pq.Zstd)
	var words, long []pq.Row
	for i := range 2000 {
		words = append(words, pq.Row{pq.ByteArrayValue([]byte(strings.Repeat("x", 100+i))).Level(0, 0, 0)})
	}
	for range 100 {
		long = append(long, pq.Row{pq.ByteArrayValue(make([]byte, 1<<20)).Level(0, 0, 0)})
	}
	file := written(t, pq.NewSchema("f", pq.Group{"a": node}), words, 2000)
	all := map[string]struct {
		says string
		file []byte
	}{
		"a page of 100 MiB": {"more than 64 MiB", written(t, pq.NewSchema("f", pq.Group{"a": plain}), long, 2000,
			pq.PageBufferSize(200<<20))},
		"an encrypted file": {"encrypted", append(bytes.Clone(file[:len(file)-1]), 'E')},
		"a footer that is longer than the file": {"the footer has", append(append(bytes.Clone(file[:len(file)-8]), "\xff\xff\xff\x7f"...),
			"PAR1"...)},
		"pages behind the end": {"pages of the file end",
			rewritten(t, file, func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 60 })},
		"pages before the beginning": {"should be at byte", rewritten(t, file, func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = -5
			m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -5
		})},
		"more rows than there are": {"values for", rewritten(t, file,
			func(m *format.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<50, 1<<50 })},
		"other rows than in the row groups": {"row groups have", rewritten(t, file, func(m *format.FileMetaData) { m.NumRows++ })},
		"more values than there are": {"pages end", rewritten(t, file, func(m *format.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows, m.RowGroups[0].Columns[0].MetaData.NumValues = 3000, 3000, 3000
		})},
		"fewer values than there are": {"values, and", rewritten(t, file, func(m *format.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows, m.RowGroups[0].Columns[0].MetaData.NumValues = 3, 3, 3
		})},
		"an unknown codec": {"not known (99)", rewritten(t, file,
			func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = 99 })},
		"LZO": {"LZO", rewritten(t, file, func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Codec = format.LZO
		})},
		"another codec than it has": {"a page at byte", rewritten(t, file,
			func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.Snappy })},
		"pages in another file": {"in another file", rewritten(t, file,
			func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "/etc/passwd" })},
		"another type": {"another type", rewritten(t, file,
			func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = format.Int64 })},
	}
	for name, c := range all {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := consume(c.file, 1<<30, "a")
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, errPanic) {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%s: %d MiB were allocated", name, took>>20)
		}
	}
}
