package unpack

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// rows returns what is in testdata/rows.csv.bz2.
func rows() []byte {
	var b bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,row %d of the file\n", i, i*i)
	}
	return b.Bytes()
}

func byName(t testing.TB, name string) *Format {
	t.Helper()
	i := slices.IndexFunc(formats, func(f *Format) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no format is called %s", name)
	}
	return formats[i]
}

// pack packs text. Each format has a checksum of its content.
func pack(t testing.TB, format string, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch format {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "Zstandard":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
	case "LZ4":
		z := lz4.NewWriter(&b)
		w, err = z, z.Apply(lz4.ChecksumOption(true), lz4.BlockChecksumOption(true), lz4.BlockSizeOption(lz4.Block64Kb))
	case "bzip2": // no Go package writes bzip2
		if !bytes.Equal(text, rows()) {
			t.Fatal("there is one file of bzip2")
		}
		packed, err := os.ReadFile("testdata/rows.csv.bz2")
		if err != nil {
			t.Fatal(err)
		}
		return packed
	}
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked reads a file to its end.
func unpacked(r io.Reader, named *Format) ([]byte, error) {
	in, err := File{Path: "d/trips.csv", Named: named, Read: new(atomic.Int64)}.Open(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}

var readFormats = []string{"gzip", "Zstandard", "LZ4", "bzip2"}

func TestC1_FormatsAreKnownByTheirContent(t *testing.T) {
	want := rows()
	for _, format := range readFormats {
		packed := pack(t, format, want)
		for _, named := range []*Format{nil, byName(t, format)} {
			for i, r := range []io.Reader{bytes.NewReader(packed), iotest.OneByteReader(bytes.NewReader(packed)),
				iotest.DataErrReader(bytes.NewReader(packed))} {
				if got, err := unpacked(r, named); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, reader %d: %d bytes of %d, %v", format, i, len(got), len(want), err)
				}
			}
		}
		for _, other := range readFormats {
			if _, err := unpacked(bytes.NewReader(packed), byName(t, other)); other != format && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s in a file that is called %s: %v", format, other, err)
			}
		}
		for _, text := range []string{"", "a", "a,b\n1,2\n", string(want)} {
			if _, err := unpacked(strings.NewReader(text), byName(t, format)); !errors.Is(err, ErrDamaged) {
				t.Errorf("%.10q in a file that is called %s: %v", text, format, err)
			}
		}
	}
	for _, text := range []string{"", "a", "a,b\n1,2\n", string(want)} {
		if got, err := unpacked(strings.NewReader(text), nil); err != nil || string(got) != text {
			t.Errorf("%.10q is read as %.10q, %v", text, got, err)
		}
	}
}

// What `lz4 -l` writes has no end mark and no checksum.
func TestLegacyLZ4IsRead(t *testing.T) {
	var b bytes.Buffer
	z := lz4.NewWriter(&b)
	err := z.Apply(lz4.LegacyOption(true))
	if err == nil {
		_, err = z.Write(rows())
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := unpacked(&b, byName(t, "LZ4")); err != nil || !bytes.Equal(got, rows()) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestC1_MembersFollowEachOther(t *testing.T) {
	want := rows()
	for _, format := range readFormats {
		one := pack(t, format, want)
		packed := slices.Concat(one, one, one)
		if format != "bzip2" {
			packed = slices.Concat(one, pack(t, format, nil), one, one)
		}
		if got, err := unpacked(bytes.NewReader(packed), nil); err != nil || !bytes.Equal(got, slices.Concat(want, want, want)) {
			t.Errorf("%s: %d bytes, %v", format, len(got), err)
		}
		if _, err := unpacked(bytes.NewReader(append(packed, "rubbish"...)), nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s and rubbish: %v", format, err)
		}
		if _, err := unpacked(bytes.NewReader(packed[:len(packed)-1]), nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s, the last member cut short: %v", format, err)
		}
	}
}

// TestC1_WhatIsBehindAGzipFile: zeros fill up a block, as gzip(1) has it; anything else is named as what it is, and not as a file that was
// cut.
func TestC1_WhatIsBehindAGzipFile(t *testing.T) {
	one := pack(t, "gzip", rows())
	for behind, says := range map[string]string{
		"\x00": "", strings.Repeat("\x00", 70_000): "", "\x00" + string(one): "", "x": "bytes behind the end",
		"id,name\n1,a\n": "bytes behind the end",
		"\x1f":           "bytes behind the end", strings.Repeat("y", 100_000): "bytes behind the end", gzipMagic: "cut short",
		"\x00" + string(one[:9]): "cut short",
	} {
		_, err := unpacked(bytes.NewReader(append(slices.Clone(one), behind...)), nil)
		if says == "" && err != nil || says != "" && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%.20q: %v", behind, err)
		}
	}
}

// A frame of Zstandard that holds nothing to unpack may come first.
func TestC1_ZstandardMayBeginWithASkippedFrame(t *testing.T) {
	packed := append([]byte("\x51\x2a\x4d\x18\x04\x00\x00\x00abcd"), pack(t, "Zstandard", rows())...)
	if got, err := unpacked(bytes.NewReader(packed), nil); err != nil || !bytes.Equal(got, rows()) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestC1_CutAnywhereIsAnError: a packed file that was cut anywhere does not count as complete.
func TestC1_CutAnywhereIsAnError(t *testing.T) {
	for _, format := range readFormats {
		packed := pack(t, format, rows())
		for n := range packed {
			if n > 12 && n < len(packed)-12 && n%(len(packed)/8) != 0 {
				continue
			}
			_, err := unpacked(bytes.NewReader(packed[:n]), byName(t, format))
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "d/trips.csv") {
				t.Errorf("%s cut after %d of %d bytes: %v", format, n, len(packed), err)
			}
		}
	}
}

// TestC1_AChangedBitIsAnError: some bits change nothing, as in the time stamp of gzip.
func TestC1_AChangedBitIsAnError(t *testing.T) {
	for _, format := range readFormats {
		packed, noticed := pack(t, format, rows()), 0
		rng := rand.New(rand.NewPCG(1, uint64(len(packed))))
		for range 40 {
			bit := rng.IntN(8 * len(packed))
			packed[bit/8] ^= 1 << (bit % 8)
			got, err := unpacked(bytes.NewReader(packed), byName(t, format))
			if err == nil && !bytes.Equal(got, rows()) {
				t.Errorf("%s: bit %d of byte %d changes the content, and nobody notices", format, bit%8, bit/8)
			}
			if err != nil {
				noticed++
			}
			packed[bit/8] ^= 1 << (bit % 8)
		}
		if noticed < 25 {
			t.Errorf("%s: %d of 40 changed bits are noticed", format, noticed)
		}
	}
}

func TestC1_AReadErrorIsNoDamage(t *testing.T) {
	broken := errors.New("cable cut")
	for _, format := range readFormats {
		packed := pack(t, format, rows())
		for _, n := range []int{0, 3, len(packed) / 2} {
			_, err := unpacked(io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(broken)), byName(t, format))
			if !errors.Is(err, broken) || errors.Is(err, ErrDamaged) {
				t.Errorf("%s, after %d bytes: %v", format, n, err)
			}
		}
	}
}

func TestC1_WhatIsNotReadIsRefusedWithWhatUnpacksIt(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar, "trips.csv")
	copy(tar[257:], "ustar")
	gzipTwice := pack(t, "gzip", pack(t, "Zstandard", rows()))
	for want, content := range map[string][]byte{
		"xz -dc":           []byte("\xfd7zXZ\x00rest"),
		"unzip -p":         []byte("PK\x03\x04rest"),
		"7z e -so":         []byte("7z\xbc\xaf\x27\x1crest"),
		"is a tar archive": tar,
		"tar -xOf d/trips": pack(t, "gzip", tar),
		"is packed twice, with gzip and within that with Zstandard; unpack it once: gzip -dc d/trips.csv": gzipTwice,
	} {
		if _, err := unpacked(bytes.NewReader(content), nil); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "d/trips.csv") {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// zeros returns n zero bytes, the content of a bomb.
type zeros struct{ n int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n == 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.n))
	clear(p[:n])
	z.n -= int64(n)
	return n, nil
}

// TestR16_ABombTakesNoMemory unpacks far more data than the memory that may be used.
func TestR16_ABombTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	for _, format := range []string{"gzip", "Zstandard", "LZ4", "bzip2"} {
		var b bytes.Buffer
		var w io.WriteCloser
		switch format {
		case "bzip2": // head -c 64M /dev/zero | bzip2
			packed, err := base64.StdEncoding.DecodeString(
				"QlpoOTFBWSZTWQ4J4t8BX45AAMAAAAggADCATUZCoCWpCoCXMUFZJlNZvAS1wwCidcAAwAAACCAAIKQINjKKiE0qKiE4u5IpwoSFALuD6A==")
			if err != nil {
				t.Fatal(err)
			}
			b.Write(packed)
		case "gzip":
			w, _ = gzip.NewWriterLevel(&b, gzip.BestSpeed)
		case "Zstandard":
			w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		case "LZ4":
			w = lz4.NewWriter(&b)
		}
		if w != nil {
			_, err := io.Copy(w, &zeros{size})
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		in, err := File{Path: "bomb", Read: new(atomic.Int64)}.Open(&b)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, in)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil || n != size || took > 24<<20 {
			t.Errorf("%s: %d of %d bytes took %d MiB of memory, %v", format, n, size, took>>20, err)
		}
	}
}

// TestR16_ALargeWindowIsRefused: 14 bytes request gigabytes.
func TestR16_ALargeWindowIsRefused(t *testing.T) {
	for exponent, refused := range map[byte]bool{27 - 10: false, 28 - 10: true, 31: true} {
		// one block, the last, with 4 unpacked bytes
		packed := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, exponent << 3, 0x21, 0, 0, 'a', 'b', 'c', 'd'}
		got, err := unpacked(bytes.NewReader(packed), nil)
		switch {
		case refused && (!errors.Is(err, zstd.ErrWindowSizeExceeded) || !strings.Contains(err.Error(), "128 MiB")):
			t.Errorf("a window of 2^%d: %q, %v", exponent+10, got, err)
		case !refused && (err != nil || string(got) != "abcd"):
			t.Errorf("a window of 2^%d: %q, %v", exponent+10, got, err)
		}
	}
}

func TestNamesWithAndWithoutTheirEnds(t *testing.T) {
	for _, c := range []struct {
		pattern, name, plain string
		fits                 bool
	}{
		{"trips.csv", "trips.csv", "trips.csv", true},
		{"trips.csv", "trips.csv.gz", "trips.csv", true},
		{"trips.csv", "trips.csv.zst", "trips.csv", true},
		{"*.csv", "a.csv.lz4", "a.csv", true},
		{"*", "a.csv.bz2", "a.csv", true},
		{"*.gz", "a.gz", "a.gz", true},
		{"trips.csv", "trips.csv.xz", "trips.csv.xz", false},
		{"trips.csv", "trips.csv.tar.gz", "trips.csv.tar.gz", false},
		{"trips.csv", "other.csv.gz", "other.csv.gz", false},
	} {
		if plain, fits := Matches(c.pattern, c.name); plain != c.plain || fits != c.fits {
			t.Errorf("%s as %s: %q, %v", c.name, c.pattern, plain, fits)
		}
	}
}

func FuzzOpen(f *testing.F) {
	for _, format := range readFormats {
		f.Add(pack(f, format, rows())[:200])
	}
	f.Add([]byte("a,b\n1,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := File{Path: "d/trips.csv", Read: new(atomic.Int64)}.Open(bytes.NewReader(data))
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(in, 8<<20))
		}
		if err != nil && !strings.Contains(err.Error(), "d/trips.csv") {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}

// TestC1_WhatIsNoTableIsNamed: files of other kinds are not taken for CSV, also if they are packed. Texts that begin alike are read.
func TestC1_WhatIsNoTableIsNamed(t *testing.T) {
	zip := func(name string) string { return "PK\x03\x04" + strings.Repeat("\x00", 26) + name }
	for content, want := range map[string]string{
		"ORC\x0a\x0b\x03\x00":                                 "an ORC file",
		"Obj\x01\x04\x14avro.codec":                           "an Avro file",
		"ARROW1\x00\x00":                                      "an Arrow file",
		"FEA1\x00":                                            "an Arrow file",
		"\xff\xff\xff\xff\x10\x01\x00\x00":                    "an Arrow file",
		"SQLite format 3\x00":                                 "sqlite3 -header -csv d/trips.csv",
		"\x01\x02\x03\x04\x05\x06\x07\x00DUCK\x40":            "duckdb d/trips.csv -c",
		"%PDF-1.7\n%\xe2\xe3":                                 "a PDF document",
		zip("[Content_Types].xml"):                            "an Excel workbook (XLSX), which is not read; save the sheet as CSV",
		zip("mimetypeapplication/vnd.oasis.opendocument.spr"): "save the sheet as CSV",
		zip("trips.csv"):                                      "unzip -p",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":                    "save the sheet as CSV",
		"7z\xbc\xaf\x27\x1c":                                  "7z e -so",
		"\x89PNG\r\n\x1a\n":                                   "a picture",
		"\xff\xd8\xff\xe0\x00\x10JFIF":                        "a picture",
		"GIF89a\x01\x00":                                      "a picture",
		"RIFF\x24\x00\x00\x00WEBPVP8 ":                        "a picture",
		"\x89HDF\r\n\x1a\n":                                   "an HDF5 file",
		"\x93NUMPY\x01\x00":                                   "a NumPy file",
		"PGDMP\x01\x0e":                                       "a PostgreSQL dump",
		"Rar!\x1a\x07\x01\x00":                                "unrar p -inul d/trips.csv",
		"\x7fELF\x02\x01":                                     "a program",
		"<?xml version=\"1.0\"?>":                             "an XML file",
		"\n<!DOCTYPE HTML>\n<html>":                           "a web page",
		"ORCID,name\n1,x\n":                                   "",
		"BMI,age\n20,30\n":                                    "",
		"RIFF,x\n1,2\n":                                       "",
		"$FL2,x\n1,2\n":                                       "",
		"12345678DUCK,x\n1,2\n":                               "",
		"<html_page>,x\n1,2\n":                                "",
		"<html lang=\"en\">":                                  "a web page",
		"PGDMP,x\n1,2\n":                                      "",
	} {
		for _, packing := range []string{"", "gzip"} {
			file := []byte(content)
			if packing != "" {
				file = pack(t, packing, file)
			}
			var n atomic.Int64
			r, err := File{Path: "d/trips.csv", Read: &n}.Open(bytes.NewReader(file))
			if want == "" {
				if err != nil {
					t.Errorf("%.20q: %v", content, err)
				} else if got, err := io.ReadAll(r); err != nil || string(got) != content {
					t.Errorf("%.20q: %q, %v", content, got, err)
				}
				continue
			}
			if twice := packing != "" && strings.HasPrefix(want, "7z") || packing != "" && want == "unzip -p"; err == nil || !twice &&
				!strings.Contains(err.Error(), want) {
				t.Errorf("%.20q, packed with %q: %v", content, packing, err)
			}
		}
	}
}
