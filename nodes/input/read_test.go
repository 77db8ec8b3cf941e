package input

import (
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/test/roletest"
)

const theFile = "/data/shop/colours.csv"

// newReader returns an input on a host with a root.
func newReader() (*Input, *roletest.Host) {
	about := roletest.About()
	about.Roots = []string{"/data"}
	in := New(about)
	h := roletest.NewHost(in)
	in.Tick(noon)
	return in, h
}

// read requests a file of 30 bytes, whose header has 7.
func read(lane uint32, seq uint64) protocol.Request {
	return protocol.Request{
		Type: protocol.Read, Session: id, Token: ours, Stream: "colours", Lane: lane, Seq: seq, File: "shop/colours.csv", Line: 2,
		Header: []byte("colour"), Path: theFile, From: 7,
		Stamp: protocol.Stamp{Size: 30, Modified: 99, Inode: 5},
	}
}

// readPiece returns a part of that file.
func readPiece(of role.Read, from, to int64, line uint64) *role.Piece {
	return &role.Piece{Read: of.ID, Session: of.Session, Stream: of.Stream, Reference: of.Reference, From: from, To: to, Line: line + 1,
		Chunk: &role.Chunk{File: of.File, Header: of.Header, Line: line, Data: []byte("red\n")}}
}

// wanted returns the only file that is wanted.
func wanted(t *testing.T, in *Input) role.Read {
	t.Helper()
	all := in.Reads()
	if len(all) != 1 {
		t.Fatalf("%d files are wanted: %+v", len(all), all)
	}
	return all[0]
}

// replayed returns an input that has recovered from what another one has recorded.
func replayed(t *testing.T, h *roletest.Host) (*Input, *roletest.Host) {
	t.Helper()
	in, again := newReader()
	for _, payload := range h.Recorded {
		if err := in.Apply(payload); err != nil {
			t.Fatal(err)
		}
	}
	return in, again
}

func TestS8_AFileIsReadOnceAndContinuesAfterTheLastCommit(t *testing.T) {
	in, h := newReader()
	if r := open(t, h, id); len(r.Roots) != 1 || r.Roots[0] != "/data" {
		t.Fatalf("roots %v", r.Roots)
	}
	q := read(3, 1)
	q.Wait = time.Second
	if _, ok := h.Ask(t, noon, 1, q); ok {
		t.Fatal("a read is answered before there is anything to say")
	}
	rd := wanted(t, in)
	if rd.Path != theFile || rd.From != 7 || rd.Line != 2 || rd.Stamp != q.Stamp || !rd.Reference {
		t.Fatalf("wanted: %+v", rd)
	}
	for range 2 {
		if !in.TakePiece(noon, readPiece(rd, 7, 11, 2)) {
			t.Fatal("a piece is not taken")
		}
	}
	if len(h.Fed) != 1 {
		t.Fatalf("one piece, offered twice, is fed %d times", len(h.Fed))
	}
	h.Full = true
	if in.TakePiece(noon, readPiece(rd, 11, 15, 3)) {
		t.Fatal("a piece is taken without room")
	}
	h.Full = false
	if !in.TakePiece(noon, readPiece(rd, 11, 15, 3)) || len(h.Fed) != 2 {
		t.Fatal("a piece is not taken although there is room")
	}
	in.Tick(noon.Add(time.Second))
	if r, ok := h.Answer(1); !ok || r.Type != protocol.OK || r.Seq != 0 || r.At != 15 {
		t.Fatalf("after its wait: %v %+v", ok, r)
	}
	for _, how := range []string{"replay", "snapshot"} {
		back, again := replayed(t, h)
		if how == "snapshot" {
			snap := back.SnapshotAll(nil)
			back, again = newReader()
			if err := back.RestoreAll(snap); err != nil {
				t.Fatal(err)
			}
		}
		rd := wanted(t, back)
		if rd.From != 15 || rd.Line != 4 || rd.Path != theFile || rd.Stamp != q.Stamp || string(rd.Header) != "colour" || rd.File != q.File {
			t.Fatalf("%s: continues with %+v", how, rd)
		}
		if r := open(t, again, id); len(r.Lanes) != 1 || r.Lanes[0] != (protocol.LaneSeq{Lane: 3, Seq: 1}) {
			t.Fatalf("%s: lanes %v: what is read is taken", how, r.Lanes)
		}
		if !back.TakePiece(noon, readPiece(rd, 15, 30, 4)) || len(again.Fed) != 1 || len(back.Reads()) != 0 {
			t.Fatalf("%s: %d pieces are fed, and %d files wanted", how, len(again.Fed), len(back.Reads()))
		}
		if r, ok := again.Ask(t, noon, 1, q); !ok || r.Seq != 1 || r.Lane != 3 || r.At != 30 {
			t.Fatalf("%s: at the end: %v %+v", how, ok, r)
		}
		if c := code(t, again, end("colours", protocol.LaneSeq{Lane: 3, Seq: 1})); c != "" {
			t.Fatalf("%s: the end is refused: %s", how, c)
		}
	}
}

func TestS8_WhatIsNotReadHereIsDeclinedForGood(t *testing.T) {
	for name, change := range map[string]func(*protocol.Request){
		"outside":     func(q *protocol.Request) { q.Path = "/etc/passwd" },
		"the root":    func(q *protocol.Request) { q.Path = "/data" },
		"beside it":   func(q *protocol.Request) { q.Path = "/database/colours.csv" },
		"out of it":   func(q *protocol.Request) { q.Path = "/data/../etc/passwd" },
		"relative":    func(q *protocol.Request) { q.Path = "data/colours.csv" },
		"with a zero": func(q *protocol.Request) { q.Path = "/data/a\x00b" },
	} {
		in, h := newReader()
		open(t, h, id)
		q := read(0, 1)
		change(&q)
		for range 2 {
			if r, ok := h.Ask(t, noon, 1, q); !ok || r.Err.Code != protocol.ErrNotHere || r.Err.Message == "" {
				t.Errorf("%s: %v %+v", name, ok, r)
			}
		}
		if len(in.Reads()) != 0 {
			t.Errorf("%s is wanted", name)
		}
		// The number is used up, also after a restart: a late repeat must not count as a new request.
		_, again := replayed(t, h)
		if r, ok := again.Ask(t, noon, 1, q); !ok || r.Err.Code != protocol.ErrNotHere {
			t.Errorf("%s, after a restart: %v %+v", name, ok, r)
		}
		if c := code(t, again, chunk("colours", 0, 2)); c != "" {
			t.Errorf("%s: the chunk behind it is refused: %s", name, c)
		}
	}
}

func TestS8_AFileThatCannotBeOpenedIsDeclined(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	q := read(0, 1)
	q.Wait = time.Second
	h.Ask(t, noon, 1, q)
	rd := wanted(t, in)
	if !in.TakePiece(noon, &role.Piece{Read: rd.ID, Session: id, From: 7, Err: errors.New("permission denied")}) {
		t.Fatal("not taken")
	}
	in.Tick(noon)
	if r, ok := h.Answer(1); !ok || r.Err.Code != protocol.ErrNotHere || !strings.Contains(r.Err.Message, "permission denied") {
		t.Fatalf("%v %+v", ok, r)
	}
	if len(h.Aborted) > 0 || len(h.Fed) > 0 {
		t.Fatalf("aborted %v, fed %d", h.Aborted, len(h.Fed))
	}
}

func TestS8_AFileThatChangesFailsItsSessionInWords(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	h.Ask(t, noon, 1, read(0, 1))
	rd := wanted(t, in)
	in.TakePiece(noon, readPiece(rd, 7, 11, 2))
	in.TakePiece(noon, &role.Piece{Read: rd.ID, Session: id, From: 11, Err: errors.New(theFile + ": the file has changed")})
	why := h.Aborted[id]
	if why.Code != protocol.ErrBadInput || !strings.Contains(why.Reason, theFile) || !strings.Contains(why.Reason, "stream colours") {
		t.Fatalf("%+v", why)
	}
	if len(in.Reads()) != 0 {
		t.Fatal("it is still wanted")
	}
	if r, ok := h.Ask(t, noon, 1, read(0, 1)); !ok || r.Err.Code != protocol.ErrBadInput {
		t.Fatalf("its client hears %v %+v", ok, r)
	}
}

func TestR17_ANumberOfALaneIsNotUsedTwice(t *testing.T) {
	other := read(0, 1)
	other.Stamp.Inode++
	for name, q := range map[string]protocol.Request{"another file": other, "a chunk": chunk("colours", 0, 1)} {
		for _, whole := range []bool{false, true} {
			in, h := newReader()
			open(t, h, id)
			h.Ask(t, noon, 1, read(0, 1))
			if whole {
				in.TakePiece(noon, readPiece(wanted(t, in), 7, 30, 2))
			}
			if c := code(t, h, q); c != protocol.ErrFailed || len(h.Aborted) != 1 {
				t.Errorf("%s, whole %v: %q, aborted %v", name, whole, c, h.Aborted)
			}
		}
	}
	_, h := newReader()
	open(t, h, id)
	h.Ask(t, noon, 1, read(0, 1))
	if c := code(t, h, chunk("colours", 0, 2)); c != protocol.ErrGap {
		t.Errorf("a chunk behind a file that is being read: %q", c)
	}
	in, h := newReader()
	open(t, h, id)
	h.Ask(t, noon, 1, read(0, 1))
	_ = in
	if c := code(t, h, end("colours", protocol.LaneSeq{Lane: 0, Seq: 1})); c != protocol.ErrFailed {
		t.Errorf("the end of a stream whose file is being read: %q", c)
	}
}

func TestR16_ReadsAreBounded(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	for lane := range uint32(maxReads) {
		if r, ok := h.Ask(t, noon, 1, read(lane, 1)); !ok || r.Type != protocol.OK {
			t.Fatalf("lane %d: %v %+v", lane, ok, r)
		}
	}
	if r, _ := h.Ask(t, noon, 1, read(maxReads, 1)); r.Err.Code != protocol.ErrNotHere {
		t.Fatalf("one more: %+v", r)
	}
	if n := len(in.Reads()); n != readsAtOnce {
		t.Fatalf("%d files are read at once", n)
	}
}

// TestS8_ACancelledReadIsAnswered: a client that waits for its file hears at once that the session is over.
func TestS8_ACancelledReadIsAnswered(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	q := read(0, 1)
	q.Wait = 10 * time.Second
	h.Ask(t, noon, 1, q)
	in.TakePiece(noon, readPiece(wanted(t, in), 7, 11, 2))
	h.Ask(t, noon, 2, protocol.Request{Type: protocol.Cancel, Session: id, Token: ours})
	in.Tick(noon)
	if r, ok := h.Answer(1); !ok || r.Err.Code != protocol.ErrCancelled {
		t.Fatalf("%v %+v", ok, r)
	}
}

// TestR17_ADeclinedReadIsNothingTaken: a client that resumes the upload hears that nothing was taken, and not that the input does not know.
func TestR17_ADeclinedReadIsNothingTaken(t *testing.T) {
	_, h := newReader()
	open(t, h, id)
	q := read(0, 1)
	q.Path = "/elsewhere/colours.csv"
	if r, ok := h.Ask(t, noon, 1, q); !ok || r.Err.Code != protocol.ErrNotHere {
		t.Fatalf("%v %+v", ok, r)
	}
	_, again := replayed(t, h)
	for name, h := range map[string]*roletest.Host{"at once": h, "after a restart": again} {
		r, ok := h.Ask(t, noon, 2, protocol.Request{Type: protocol.Open, Session: id, Token: ours, Analysis: "paint"})
		if !ok || len(r.Lanes) != 1 || r.Ranges == nil || len(r.Ranges) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestR17_ATakeoverHearsHowFarAFileWasRead: a client leaves while its file is half read. The next client hears how much was taken, and
// sends the rest.
func TestR17_ATakeoverHearsHowFarAFileWasRead(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	h.Ask(t, noon, 1, read(0, 1))
	h.Ask(t, noon, 1, read(1, 1)) // nothing of it has been read
	rd := in.Reads()[0]
	in.TakePiece(noon, readPiece(rd, 7, 11, 2))
	for s := 1; s < 8; s++ {
		in.Tick(noon.Add(time.Duration(s) * time.Second / 2 * 3))
	}
	at := noon.Add(time.Hour)
	for s := range 20 {
		at = noon.Add(12*time.Second + time.Duration(s)*400*time.Millisecond)
		in.Tick(at)
	}
	q := protocol.Request{Type: protocol.Open, Session: id, Token: session.Token{2}, Analysis: "paint", Takeover: true}
	r, ok := h.Ask(t, at, 2, q)
	if !ok || r.Type != protocol.Opened {
		t.Fatalf("%v %+v", ok, r)
	}
	back, again := replayed(t, h)
	for name, on := range map[string]struct {
		in *Input
		h  *roletest.Host
	}{"at once": {in, h}, "after a restart": {back, again}} {
		q.Takeover = false
		r, _ := on.h.Ask(t, at, 2, q)
		if len(r.Lanes) != 1 || r.Lanes[0] != (protocol.LaneSeq{Lane: 0, Seq: 1}) || len(r.Ranges) != 1 || len(r.Ranges[0].Taken) != 1 ||
			r.Ranges[0].Taken[0].From != 0 || r.Ranges[0].Taken[0].To != 4 {
			t.Errorf("%s: lanes %v, ranges %+v", name, r.Lanes, r.Ranges)
		}
		if len(on.in.Reads()) != 0 {
			t.Errorf("%s: the former client's file is still wanted", name)
		}
	}
}

// TestR17_AFileIsTakenAtItsLastByte and not before: its number is no client's to use until then.
func TestR17_AFileIsTakenAtItsLastByte(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	if _, ok := h.Ask(t, noon, 1, read(0, 1)); ok {
		_, _ = h.Answer(1)
	}
	rd := wanted(t, in)
	if !in.TakePiece(noon, readPiece(rd, 7, 29, 2)) {
		t.Fatal("a piece is not taken")
	}
	if r, ok := h.Ask(t, noon, 1, read(0, 1)); ok && r.Seq != 0 || len(in.Reads()) != 1 {
		t.Fatalf("a byte is missing, and the answer is %+v; %d files are read", r, len(in.Reads()))
	}
	if c := code(t, h, end("colours", protocol.LaneSeq{Lane: 0, Seq: 1})); c == "" {
		t.Fatal("the stream ends while a byte of its file is missing")
	}
}

// TestE13_PartsOfAFileAreTakenOnceEach: parts are read beside each other, from where the last commit ended, and count as taken by their
// places.
func TestE13_PartsOfAFileAreTakenOnceEach(t *testing.T) {
	in, h := newReader()
	open(t, h, id)
	const parts = 4
	place := func(part, at int64) int64 { return part<<protocol.PartBits + at }
	ask := func(part int64) protocol.Request {
		q := read(uint32(part), 1)
		q.Header, q.From, q.Wait = csv.MarkedColumnar(q.Header, ',', 16), uint64(place(part, 0)), time.Second
		return q
	}
	for part := range int64(parts) {
		if _, ok := h.Ask(t, noon, role.Peer(part), ask(part)); ok {
			t.Fatal("a read is answered before there is anything to say")
		}
	}
	reads := in.Reads()
	if len(reads) != parts {
		t.Fatalf("%d of %d parts are read at once", len(reads), parts)
	}
	for i, rd := range reads {
		if rd.Part != i || rd.From != place(int64(i), 0) || rd.To != place(int64(i+1), 0) || rd.Of == nil {
			t.Fatalf("part %d: %+v", i, rd)
		}
	}
	end := func(in *Input, rd role.Read, from int64) {
		if !in.TakePiece(noon, &role.Piece{Read: rd.ID, Session: id, Stream: rd.Stream, Reference: true, From: from, To: rd.To}) {
			t.Fatal("the end of a part is not taken")
		}
	}
	in.TakePiece(noon, readPiece(reads[2], place(2, 0), place(2, 4), 900))
	in.TakePiece(noon, readPiece(reads[1], place(1, 0), place(1, 4), 500))
	in.TakePiece(noon, readPiece(reads[2], place(2, 4), place(2, 8), 901))
	end(in, reads[2], place(2, 8))
	end(in, reads[3], place(3, 0)) // nothing of it passes
	for _, how := range []string{"replay", "snapshot"} {
		back, again := replayed(t, h)
		if how == "snapshot" {
			snap := back.SnapshotAll(nil)
			back, again = newReader()
			if err := back.RestoreAll(snap); err != nil {
				t.Fatal(err)
			}
		}
		rd := wanted(t, back)
		if rd.Part != 1 || rd.From != place(1, 4) || rd.To != place(2, 0) {
			t.Fatalf("%s: continues with %+v", how, rd)
		}
		for _, part := range []int64{2, 3} {
			if r, ok := again.Ask(t, noon, 1, ask(part)); !ok || r.Seq != 1 || r.At != uint64(place(part+1, 0)) {
				t.Fatalf("%s: part %d: %v %+v", how, part, ok, r)
			}
		}
		u := back.uploads[id]
		got := u.covered.Ranges(func(int) string { return "" })
		if len(got) != 1 || len(got[0].Taken) != 2 || got[0].Taken[0].From != uint64(place(1, 0)) || got[0].Taken[0].To != uint64(place(1, 4)) ||
			got[0].Taken[1].From != uint64(place(2, 0)) || got[0].Taken[1].To != uint64(place(2, 8)) || u.bytes != 12 {
			t.Fatalf("%s: taken is %+v, %d bytes", how, got, u.bytes)
		}
		end(back, rd, place(1, 4))
		if len(back.Reads()) != 0 {
			t.Fatalf("%s: a part is read on", how)
		}
	}
	within := ask(0)
	within.Lane, within.From = 9, uint64(place(1, 4))
	if r, ok := h.Ask(t, noon, 1, within); !ok || r.Err.Code != protocol.ErrNotHere {
		t.Errorf("from within a part: %v %+v", ok, r)
	}
}
