package postgres

import (
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestRowsAreCopiedInBinary compares with bytes that PostgreSQL's documentation of COPY gives. A reader that takes one byte at a time gets
// the same.
func TestRowsAreCopiedInBinary(t *testing.T) {
	q := tableOf(t, "q", []string{"i", "f", "t", "b", "d"},
		[]protocol.Value{whole(-2), fraction(1), written("a\x00"), {Kind: protocol.Bool, Int: 1}, whole(3)},
		[]protocol.Value{whole(1), {Kind: protocol.Null}, written(""), {Kind: protocol.Bool}, fraction(0.5)})
	id := session.ID{0: 7}
	row := "\x00\x07" + "\x00\x00\x00\x10" + string(id[:])
	want := "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		row + "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x00\x00\x08\xff\xff\xff\xff\xff\xff\xff\xfe" +
		"\x00\x00\x00\x08\x3f\xf0\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x04a\xef\xbf\xbd" + "\x00\x00\x00\x01\x01" + "\x00\x00\x00\x08\x40\x08\x00\x00\x00\x00\x00\x00" +
		row + "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x02" + "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01" + "\xff\xff\xff\xff" +
		"\x00\x00\x00\x00" + "\x00\x00\x00\x01\x00" + "\x00\x00\x00\x08\x3f\xe0\x00\x00\x00\x00\x00\x00" +
		"\xff\xff"
	for name, reader := range map[string]func(io.Reader) io.Reader{"in blocks": func(r io.Reader) io.Reader { return r },
		"in bytes": iotest.OneByteReader} {
		c := &copying{query: &q, types: typesOf(&q)}
		r := newCopyStream(c, id)
		got, err := io.ReadAll(reader(r))
		if err != nil || string(got) != want || c.changed != 1 {
			t.Errorf("%s: %q, %d changed, %v\nwant %q", name, got, c.changed, err, want)
		}
		r.Close()
	}
}

// TestAClosedCopyEnds: the driver may read on after CopyFrom has returned with an error.
func TestAClosedCopyEnds(t *testing.T) {
	a := large()
	q := &a.Queries[0]
	r := newCopyStream(&copying{query: q, types: typesOf(q)}, a.Session)
	ended := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, r)
		ended <- err
	}()
	if _, err := io.ReadFull(r, make([]byte, 3*blockSize)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := <-ended; !errors.Is(err, errClosed) {
		t.Errorf("a reader of closed rows gets %v", err)
	}
}
