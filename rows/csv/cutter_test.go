package csv

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// cutRows returns the rows that Cutter and Scanner together make of data after a header. The chunks together must equal data.
func cutRows(t *testing.T, data []byte, comma byte, m Mapping, chunkBytes int) (rows []row) {
	t.Helper()
	header := "header\n"
	if strings.Contains(header, string([]byte{comma})) {
		header = "x\n" // of one column as well, so that no carriage return can be told from a row's end
	}
	c := NewCutter(bytes.NewReader(append([]byte(header), data...)), comma, chunkBytes, len(data)+10)
	return drain(t, c, data, comma, m, -1)
}

// drain reads everything from c and scans it. offset is added to lines, so that the lines of data after a header of one line
// count from 1.
func drain(t *testing.T, c *Cutter, data []byte, comma byte, m Mapping, offset int) (rows []row) {
	t.Helper()
	var s Scanner
	var together, buf []byte
	for {
		chunk, line, err := c.Next(buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("Next: %v\ndata %q", err, data)
		}
		if len(chunk) == 0 {
			t.Fatalf("an empty chunk in line %d", line)
		}
		rows = append(rows, scanRows(&s, chunk, comma, m, line+uint64(offset))...)
		together, buf = append(together, chunk...), chunk
	}
	if !bytes.Equal(together, data) {
		t.Fatalf("the chunks are %q\nthe data is %q", together, data)
	}
	return rows
}

func TestScanOfAnyCutIsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 800 {
		data, m := rubbish(rng, rng.IntN(500)), randomMapping(rng)
		want := referenceRows(data, ',', m, 1)
		for _, chunkBytes := range []int{1, 1 + rng.IntN(100), 1 << 20} {
			sameRows(t, data, cutRows(t, data, ',', m, chunkBytes), want)
		}
	}
}

func TestCutsDoNotDependOnReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	readers := []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader, func(r io.Reader) io.Reader {
		return iotest.DataErrReader(iotest.OneByteReader(r))
	}}
	for range 300 {
		data, chunkBytes := append([]byte("h\n"), rubbish(rng, rng.IntN(300))...), 1+rng.IntN(64)
		maxRecord := chunkBytes + rng.IntN(200)
		want, wantErr := chunks(NewCutter(bytes.NewReader(data), ',', chunkBytes, maxRecord))
		for i, reader := range readers {
			got, err := chunks(NewCutter(reader(bytes.NewReader(data)), ',', chunkBytes, maxRecord))
			if strings.Join(got, "|") != strings.Join(want, "|") || err.Error() != wantErr.Error() {
				t.Fatalf("reader %d: %q, %v\nwant %q, %v", i, got, err, want, wantErr)
			}
		}
	}
}

func chunks(c *Cutter) (all []string, err error) {
	for {
		chunk, _, err := c.Next(nil)
		if err != nil {
			return all, err
		}
		all = append(all, string(chunk))
	}
}

func TestChunksHoldWhatFits(t *testing.T) {
	const data = "h\n1\n22\n333\n4444444444\n5\n\"6\n6\"\n7\n8"
	for _, c := range []struct {
		chunkBytes int
		want       string
	}{
		{1, "1\n|22\n|333\n|4444444444\n|5\n|\"6\n6\"\n|7\n|8"},
		{5, "1\n22\n|333\n|4444444444\n|5\n|\"6\n6\"\n|7\n8"},
		{9, "1\n22\n333\n|4444444444\n|5\n\"6\n6\"\n|7\n8"},
		{100, "1\n22\n333\n4444444444\n5\n\"6\n6\"\n7\n8"},
	} {
		got, err := chunks(NewCutter(strings.NewReader(data), ',', c.chunkBytes, 50))
		if strings.Join(got, "|") != c.want || err != io.EOF {
			t.Errorf("chunks of %d: %q, %v; want %q", c.chunkBytes, got, err, c.want)
		}
	}
}

func TestHeaderComesFirstAndAlone(t *testing.T) {
	for _, c := range []struct {
		data, header, chunk string
		line                uint64
	}{
		{"a,b\n1,2\n", "a,b", "1,2\n", 2},
		{"\xef\xbb\xbfa,b\r\n1,2\r\n", "a,b", "1,2\r\n", 2},
		{"\n\r\na,b\n1,2", "a,b", "1,2", 4},
		{"\"a\nb\",c\n1,2", "\"a\nb\",c", "1,2", 3},
		{"a;b", "a;b", "", 0},
		{"a\r", "a", "", 0},
	} {
		cutter := NewCutter(iotest.OneByteReader(strings.NewReader(c.data)), 0, 100, 100)
		chunk, line, err := cutter.Next(nil)
		header, headerErr := cutter.Header()
		if string(header) != c.header || headerErr != nil || string(chunk) != c.chunk || line != c.line || c.chunk == "" != (err == io.EOF) {
			t.Errorf("%q: header %q, %v, chunk %q in line %d, %v", c.data, header, headerErr, chunk, line, err)
		}
	}
}

func TestFilesWithoutAHeader(t *testing.T) {
	for _, data := range []string{"", "\xef\xbb\xbf", "\n\r\n\n"} {
		c := NewCutter(strings.NewReader(data), ',', 10, 100)
		if header, err := c.Header(); !errors.Is(err, ErrHeader) || header != nil {
			t.Errorf("%q: header %q, %v; want ErrHeader", data, header, err)
		}
		if _, _, err := c.Next(nil); !errors.Is(err, ErrHeader) {
			t.Errorf("%q: Next says %v; want ErrHeader", data, err)
		}
	}
}

func TestARecordThatIsTooLongIsNamedByItsLine(t *testing.T) {
	long := "\"" + strings.Repeat("x\n", 100)
	for _, tail := range []string{long, long + "\"\n", strings.Repeat("y", 151) + "\n1\n"} {
		c := NewCutter(strings.NewReader("h\n1\n\n2\n"+tail), ',', 4, 151)
		got, err := chunks(c)
		if !errors.Is(err, ErrRecordTooLong) || !strings.Contains(err.Error(), "line 5 ") || strings.Join(got, "") != "1\n\n2\n" {
			t.Errorf("%.20q: chunks %q, %v", tail, got, err)
		}
		if _, _, again := c.Next(nil); again != err {
			t.Errorf("the error is not final: %v", again)
		}
	}
	exact := strings.Repeat("y", 150) + "\n"
	if got, err := chunks(NewCutter(strings.NewReader("h\n"+exact+"1\n"), ',', 4, 151)); err != io.EOF || len(got) != 2 || got[0] != exact {
		t.Errorf("a record of exactly the limit: %q, %v", got, err)
	}
}

func TestReadErrorsAreFinalAndNotTheEnd(t *testing.T) {
	broken := errors.New("cable cut")
	c := NewCutter(io.MultiReader(strings.NewReader("h\n1\n2\n3"), iotest.ErrReader(broken)), ',', 2, 100)
	got, err := chunks(c)
	if !errors.Is(err, broken) || strings.Contains(strings.Join(got, ""), "3") {
		t.Errorf("chunks %q, %v", got, err)
	}
	if _, _, err := NewCutter(stuck{}, ',', 2, 100).Next(nil); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that returns nothing: %v", err)
	}
	if _, err := NewCutter(stuck{}, '"', 2, 100).Header(); err == nil {
		t.Error("a quote as separator is accepted")
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestMemoryDoesNotGrowWithTheFile reads far more than a cutter may keep.
func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	line := []byte("2015-05-05 08:30:00,6217,2015-05-05 08:41:00,\"6204\",660.0,1,2015\n")
	c := NewCutter(io.LimitReader(&repeat{p: line}, 16<<20), ',', 64<<10, 1<<20)
	var buf []byte
	for {
		chunk, _, err := c.Next(buf)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		buf = chunk
	}
	if len(c.store) > 256<<10 || cap(buf) > 256<<10 {
		t.Errorf("the cutter holds %d bytes, the chunk %d", len(c.store), cap(buf))
	}
}

type repeat struct {
	p  []byte
	at int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.p[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.p)
	}
	return n, nil
}

func TestLastRecordEnd(t *testing.T) {
	for data, want := range map[string]int{
		"": 0, "a": 0, "a\n": 2, "a\nb": 2, "a\n\"b\n": 2, "a\n\"b\n\"": 2, "a\n\"b\n\"\n": 7, "\"a\nb": 0, "a\"\nb": 3,
		"\"a\"x\n\"": 5, "a,\"\n\n\"\n": 7, "\"a\"\"\n": 0, "\"a\"\r": 0, "\"a\"\r\n": 5,
	} {
		if got := LastRecordEnd([]byte(data), ','); got != want {
			t.Errorf("LastRecordEnd(%q) = %d, want %d", data, got, want)
		}
	}
}

// TestRoomIsLeftInFrontOfEveryChunk: the room belongs to the caller. Writing there changes no chunk, whatever memory comes
// back.
func TestRoomIsLeftInFrontOfEveryChunk(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 400 {
		data := append([]byte("\xef\xbb\xbfh\n"), rubbish(rng, rng.IntN(600))...)
		chunkBytes, room := 1+rng.IntN(200), rng.IntN(40)
		want, wantErr := chunks(NewCutter(bytes.NewReader(data), ',', chunkBytes, len(data)))
		c := NewCutter(bytes.NewReader(data), ',', chunkBytes, len(data))
		c.LeaveRoom(room)
		var spare [][]byte
		for i := 0; ; i++ {
			var buf []byte
			if len(spare) > 0 && rng.IntN(3) > 0 {
				buf, spare = spare[0], spare[1:]
			}
			chunk, _, err := c.Next(buf)
			if err != nil {
				if err.Error() != wantErr.Error() || i != len(want) {
					t.Fatalf("%v after %d chunks, want %v after %d", err, i, wantErr, len(want))
				}
				break
			}
			if i >= len(want) || string(chunk[room:]) != want[i] {
				t.Fatalf("chunk %d is %q behind %d bytes, want %q", i, chunk[room:], room, want)
			}
			for at := range chunk[:cap(chunk)] {
				chunk[:cap(chunk)][at] = '"' // the memory is the caller's
			}
			spare = append(spare, chunk)
		}
	}
}

// TestBlankLinesBeforeTheHeader: they are counted and dropped, wherever reads and buffers end.
func TestBlankLinesBeforeTheHeader(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, n := range []int{0, 1, 2, 32767, 32768, 65535, 65536, 65537, 200_000} {
			in := strings.Repeat(end, n) + "a,b" + end + "1,2" + end
			for _, r := range []io.Reader{strings.NewReader(in), iotest.HalfReader(strings.NewReader(in)),
				iotest.DataErrReader(strings.NewReader(in))} {
				c := NewCutter(r, ',', 100, 1<<20)
				header, err := c.Header()
				chunk, line, bad := c.Next(nil)
				if string(header) != "a,b" || err != nil || strings.TrimRight(string(chunk), "\r\n") != "1,2" || line != uint64(n+2) || bad != nil {
					t.Fatalf("%d lines that end in %q: header %q, %v; chunk %q in line %d, %v", n, end, header, err, chunk, line, bad)
				}
			}
		}
	}
}

// TestBlankLinesEndWithTheReader: a reader that is closed because the user gives up ends the search for a header at the next read.
func TestBlankLinesEndWithTheReader(t *testing.T) {
	closed := errors.New("closed")
	reads := 0
	c := NewCutter(readerFunc(func(p []byte) (int, error) {
		if reads++; reads > 3 {
			return 0, closed
		}
		return copy(p, bytes.Repeat([]byte{'\n'}, len(p))), nil
	}), ',', 100, 1<<20)
	if _, err := c.Header(); !errors.Is(err, closed) || reads != 4 {
		t.Errorf("%d reads, %v", reads, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
