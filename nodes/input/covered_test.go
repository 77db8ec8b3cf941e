package input

import (
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/protocol"
)

// placed returns a chunk that names its place in its file.
func placed(file string, lane uint32, seq, at uint64, data string) protocol.Request {
	q := chunk("colours", lane, seq)
	q.File, q.At, q.Placed, q.Data = file, at, true, []byte(data)
	return q
}

func piece(from uint64, data string) protocol.Range {
	return protocol.Range{From: from, To: from + uint64(len(data)), Sum: crc32.Checksum([]byte(data), castagnoli)}
}

// TestR17_AResumerHearsWhatWasTaken: a client that resumes gets the pieces of each file with their checksums, also after restarts. Repeated
// and refused chunks are not among them.
func TestR17_AResumerHearsWhatWasTaken(t *testing.T) {
	for how, restart := range map[string]func(*gate) *gate{
		"no restart":    func(g *gate) *gate { return g },
		"from records":  func(g *gate) *gate { return g.again(false) },
		"from snapshot": func(g *gate) *gate { return g.again(true) },
	} {
		g := newGate(t, true)
		open(t, g.h, id)
		g.wants("", placed("town/colours.csv", 0, 1, 0, "red\n"))
		g.wants("", placed("town/colours.csv", 1, 1, 10, "blue\n"))
		g = restart(g)
		g.wants("", placed("shop/colours.csv", 1, 2, 7, "grey\n"))
		g.wants("", placed("shop/colours.csv", 1, 2, 7, "grey\n"))
		g.wants("", placed("town/colours.csv", 0, 2, 4, "green\n"))
		g.wants(protocol.ErrBadRequest, placed("nowhere.csv", 0, 3, 4, "green\n"))
		g = restart(g)
		g.listens(leftAfter)
		header := crc32.Checksum([]byte("colour"), castagnoli)
		want := []protocol.FileRanges{
			{Stream: "colours", File: "shop/colours.csv", Header: header, Taken: []protocol.Range{piece(7, "grey\n")}},
			{Stream: "colours", File: "town/colours.csv", Header: header, Taken: []protocol.Range{piece(0, "red\ngreen\nblue\n")}},
		}
		if r := g.ask(opens(theirs)); !reflect.DeepEqual(r.Ranges, want) {
			t.Errorf("%s:\n got %v\nwant %v", how, r.Ranges, want)
		}
	}
}

// TestR17_BytesAreTakenOnce: if a client sends the same bytes of a file under two numbers, they must not count twice.
func TestR17_BytesAreTakenOnce(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	g.wants("", placed("town/colours.csv", 0, 1, 0, "red\nblue\n"))
	r := g.ask(placed("town/colours.csv", 1, 1, 4, "blue\n"))
	if r.Err.Code != protocol.ErrFailed || !strings.Contains(r.Err.Message, "bytes 4 to 9 of town/colours.csv: taken already") {
		t.Fatalf("%+v", r)
	}
}

// TestR17_AnUploadWithoutPlacesCannotGoOn: if one chunk of a client does not name its place, the input reports no pieces of the upload at
// all.
func TestR17_AnUploadWithoutPlacesCannotGoOn(t *testing.T) {
	g := newGate(t, true)
	open(t, g.h, id)
	g.wants("", placed("town/colours.csv", 0, 1, 0, "red\n"))
	g.wants("", chunk("colours", 0, 2))
	g.wants("", placed("town/colours.csv", 0, 3, 4, "red\n"))
	for _, g := range []*gate{g, g.again(false), g.again(true)} {
		g.listens(leftAfter)
		if r := g.ask(opens(theirs)); len(r.Lanes) != 1 || r.Ranges != nil {
			t.Errorf("%+v", r)
		}
	}
}
