package core

import (
	"slices"
	"testing"

	"posta.dev/posta/protocol"
)

// reads returns a driver whose first lane has given its input a file of 100 bytes to read, from byte 10 on.
func reads(t *testing.T) *driver {
	t.Helper()
	cfg := testConfig()
	cfg.Lanes = 1
	d := opened(t, cfg, 1, 1)
	d.do(d.s.Upload)
	d.chunk("x\n")
	d.acked()
	w := d.wants[0]
	d.wants = nil
	d.s.File(w.Lane, File{File: "a.csv", Path: "/data/a.csv", From: 10, Line: 2, Stamp: protocol.Stamp{Size: 100}}, d.now)
	d.act()
	return d
}

// answers answers the read, and returns what the session then says of the file.
func (d *driver) answers(reply protocol.Reply) []FileEnd {
	d.t.Helper()
	if reply.Type == "" {
		reply.Type = protocol.OK
	}
	c, _ := d.find("in1", protocol.Read)
	d.request("in1", protocol.Read)
	delete(d.under, c)
	d.s.Reply(c, d.tries[c], reply, d.now)
	o := d.s.Output()
	for _, r := range o.Requests {
		d.under[r.Conn], d.tries[r.Conn] = r.Message, r.Try
	}
	d.wants = append(d.wants, o.Wants...)
	return o.Files
}

// TestS8_AFileIsTakenAtItsEnd: an input tells how far it has come, and at the end that the file is taken. No byte counts twice.
func TestS8_AFileIsTakenAtItsEnd(t *testing.T) {
	d, most := reads(t), int64(0)
	for _, at := range []uint64{40, 30, 70} { // the second answer is older than the first
		if ends := d.answers(protocol.Reply{At: at}); len(ends) > 0 || d.request("in1", protocol.Read).Seq != 2 {
			t.Fatalf("at byte %d: %+v", at, ends)
		}
		most = max(most, int64(at)-10)
		if p := d.s.Progress(d.now).Streams[0]; p.InPlace != most {
			t.Errorf("the input said that it is at byte %d, and %d bytes are read", at, p.InPlace)
		}
	}
	if p := d.s.Progress(d.now).Streams[0]; p.InPlace != 60 || p.Bytes != 62 || p.Chunks != 1 {
		t.Errorf("on the way: %+v", p)
	}
	if ends := d.answers(protocol.Reply{Seq: 2, At: 100}); len(ends) != 1 || !ends[0].Taken || len(d.wants) != 1 {
		t.Fatalf("%+v", ends)
	}
	if p := d.s.Progress(d.now).Streams[0]; p.InPlace != 90 || p.Chunks != 2 {
		t.Errorf("at the end: %+v", p)
	}
	d.awaitPing("in1")
	if q := d.request("in1", protocol.Ping); !slices.Equal(q.Lanes, []protocol.LaneSeq{{Lane: 0, Seq: 2}}) {
		t.Errorf("the file is acknowledged, and the input is told %+v", q.Lanes)
	}
}

// TestS8_ADeclinedFileIsNotTaken, but its number is: the client sends the file in chunks with the numbers behind it.
func TestS8_ADeclinedFileIsNotTaken(t *testing.T) {
	d := reads(t)
	ends := d.answers(protocol.Refuse(protocol.ErrNotHere, "it is not there"))
	if len(ends) != 1 || ends[0].Taken || len(d.wants) != 1 {
		t.Fatalf("%+v", ends)
	}
	if d.chunk("y\n"); d.request("in1", protocol.Chunk).Seq != 3 {
		t.Errorf("%+v", d.request("in1", protocol.Chunk))
	}
}

// TestR17_NoFileIsTakenTooEarly: an answer that says so before the end of the file, or that is to another number or another lane, ends the
// upload.
func TestR17_NoFileIsTakenTooEarly(t *testing.T) {
	for _, reply := range []protocol.Reply{{Seq: 2, At: 99}, {Seq: 2}, {Seq: 1, At: 100}, {Lane: 1, Seq: 2, At: 100}, {At: 101}} {
		d := reads(t)
		ends := d.answers(reply)
		if d.act(); len(ends) > 0 || d.s.streams[0].InPlace > 0 || d.s.lanes[0].acked != 1 || !isError(d.s.lost, protocol.ErrInvalid) &&
			!isError(d.s.Err(), protocol.ErrInvalid) {
			t.Errorf("%+v: the file ends as %+v, lane %+v, %v", reply, ends, d.s.lanes[0].acked, d.s.Err())
		}
	}
}

// TestR17_LanesOfAFormerClient: each lane that is used again continues after its own last number, is claimed once, and from then on by its
// own numbers. The others are claimed as the input told them.
func TestR17_LanesOfAFormerClient(t *testing.T) {
	cfg := testConfig()
	cfg.Resume, cfg.Reopens, cfg.Lanes = true, true, 2
	d := discovered(t, cfg, 1, 1)
	d.do(d.s.Open)
	d.answer("in1", protocol.Ping, running)
	former := openedReply()
	former.Lanes = []protocol.LaneSeq{{Lane: 1, Seq: 7}, {Lane: 0, Seq: 3}, {Lane: 5, Seq: 9}}
	d.answer("in1", protocol.Open, former)
	d.ends(nil)
	d.do(d.s.Upload)
	claimed := func(want ...protocol.LaneSeq) {
		t.Helper()
		d.awaitPing("in1")
		q := d.request("in1", protocol.Ping)
		d.answer("in1", protocol.Ping, running)
		if !slices.Equal(q.Lanes, want) {
			t.Fatalf("the input is told %+v, want %+v", q.Lanes, want)
		}
	}
	claimed(protocol.LaneSeq{Lane: 0, Seq: 3}, protocol.LaneSeq{Lane: 1, Seq: 7}, protocol.LaneSeq{Lane: 5, Seq: 9})
	for range 2 {
		w := d.chunk("x\n")
		for c := range ConnID(len(d.at)) {
			if q, ok := d.under[c]; ok && q.Type == protocol.Chunk && q.Lane == uint32(w.Lane) && q.Seq != []uint64{4, 8}[w.Lane] {
				t.Fatalf("lane %d continues with %d", q.Lane, q.Seq)
			}
		}
	}
	// nothing is acknowledged yet
	claimed(protocol.LaneSeq{Lane: 0, Seq: 3}, protocol.LaneSeq{Lane: 1, Seq: 7}, protocol.LaneSeq{Lane: 5, Seq: 9})
	d.acked()
	claimed(protocol.LaneSeq{Lane: 0, Seq: 4}, protocol.LaneSeq{Lane: 1, Seq: 8}, protocol.LaneSeq{Lane: 5, Seq: 9})
}

// TestR17_AllEndsOfAFormerClientCount: if its streams have ended everywhere, there is nothing left to send.
func TestR17_AllEndsOfAFormerClientCount(t *testing.T) {
	cfg := testConfig()
	cfg.Resume, cfg.Reopens = true, true
	d := discovered(t, cfg, 1, 1)
	d.do(d.s.Open)
	d.answer("in1", protocol.Ping, running)
	former := openedReply()
	former.Lanes, former.Ended = []protocol.LaneSeq{{Lane: 0, Seq: 3}}, []string{"trips", "stations"}
	d.answer("in1", protocol.Open, former)
	d.ends(nil)
	d.do(d.s.Upload)
	if d.ends(nil); d.s.Phase() != Uploaded || len(d.wants) > 0 {
		t.Errorf("phase %d, and %d lanes want chunks", d.s.Phase(), len(d.wants))
	}
}
