package input

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/nodes/gateway"
	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// A client may ask an input to read a file in place (S8), instead of sending it. A read uses a number of a lane, as a chunk does. From then
// on the input is responsible for the file: it cuts the file, and feeds the pieces as if they were chunks. The commit that has the effect
// of a piece also records which bytes were fed. So a byte counts once, and recovery continues after the last byte that was fed. When the
// whole file has been fed, the number counts as taken.
//
//	asked ──first piece──▶ begun ──pieces──▶ at the end of the file: the lane's number is taken
//	  └── it cannot be read here, nothing was fed: declined; the number is taken as well, and its client sends the file in chunks
//	begun ── it cannot be read any more, or has changed: the session fails

var _ role.FileReader = (*Input)(nil)

// reading is a file that is being read. It occupies number seq of its lane.
type reading struct {
	id     role.ReadID
	seq    uint64
	sum    uint32 // of the request
	stream int
	file   string
	header []byte
	path   string
	stamp  protocol.Stamp
	part   int    // of a file of columns; -1 of other files
	first  uint64 // the byte at which the records begin, or the place of the part's first record
	at     int64  // the first byte that was not fed yet, or the place of the first record
	to     int64  // where the file ends, or the part
	line   uint64 // the line that at is in
	begun  bool   // the read was recorded, with its first piece

	answerAt time.Time // when the waiting request is answered, unless the read ends before
}

const (
	// readsAtOnce is how many files of a session are read at once, beside parts of files of columns. While one is being opened or closed, the
	// other keeps the parser busy.
	readsAtOnce = 2
	// maxReads bounds how many reads of a session wait or are under way. Each may have a header of protocol.MaxHeader bytes.
	maxReads = 16
	// longestReadWait bounds how long a client waits for an answer about its read.
	longestReadWait = 10 * time.Second
)

// read takes a client's request to read a file; a repeated request starts no second read. The answer waits for the end of the file, but not
// longer than the client asks for. arrived is false if the request has waited before. held says that it waits now.
func (in *Input) read(r *role.Request, u *upload, req *protocol.Request, arrived bool) (held bool) {
	last, rd, sum := u.lanes[req.Lane], u.reads[req.Lane], readSum(req)
	switch {
	case rd != nil && rd.seq == req.Seq && rd.sum != sum, rd == nil && last.seq == req.Seq && last.sum != sum:
		in.contradicts(r, u, req)
	case rd != nil && rd.seq == req.Seq:
		return in.await(r, req, rd, arrived)
	case req.Seq <= last.seq:
		in.ReplyStored(r.From, last.answer(req))
	case rd != nil || req.Seq > last.seq+1:
		in.gap(r, u, req)
	default:
		return in.begin(r, u, req, sum, arrived)
	}
	return false
}

// answer repeats the answer for a number that is taken.
func (t taken) answer(req *protocol.Request) protocol.Reply {
	if t.seq == req.Seq && t.declined != "" {
		return protocol.Refuse(protocol.ErrNotHere, t.declined)
	}
	ok := protocol.Reply{Type: protocol.OK, Lane: req.Lane, Seq: req.Seq}
	if req.Type == protocol.Read {
		_, ok.At = protocol.ReadEnd(req.Header, req.From, req.Stamp.Size)
	}
	return ok
}

// await answers a request whose file is being read, or lets it wait.
func (in *Input) await(r *role.Request, req *protocol.Request, rd *reading, arrived bool) (held bool) {
	if arrived {
		rd.answerAt = in.now.Add(min(req.Wait, longestReadWait))
	}
	if in.now.Before(rd.answerAt) {
		in.hold(r, req)
		return true
	}
	in.ReplyStored(r.From, protocol.Reply{Type: protocol.OK, State: session.Running, At: uint64(rd.at)})
	return false
}

func (in *Input) begin(r *role.Request, u *upload, req *protocol.Request, sum uint32, arrived bool) (held bool) {
	stream, refusal := u.stream(req)
	if refusal != nil {
		in.Reply(r.From, *refusal)
		return false
	}
	in.nextRead++
	rd := &reading{
		id: in.nextRead, seq: req.Seq, sum: sum, stream: stream, file: req.File, header: slices.Clone(req.Header), path: req.Path,
		stamp: req.Stamp,
		first: req.From, at: int64(req.From), line: req.Line,
	}
	switch rd.setEnd(); {
	case rd.part >= 0 && rd.at != int64(rd.part)<<protocol.PartBits:
		in.decline(u, req.Lane, rd, fmt.Sprintf("no part of a file begins at %d", req.From))
	case !in.below(req.Path):
		in.decline(u, req.Lane, rd, fmt.Sprintf("node %s does not read %q where it lies: it is below none of data.roots of the topology",
			in.About.Node, req.Path))
	case len(u.reads) >= maxReads:
		in.decline(u, req.Lane, rd, fmt.Sprintf("node %s reads %d files of session %s already, and takes no more", in.About.Node, len(u.reads),
			u.ID))
	default:
		u.reads[req.Lane] = rd
		return in.await(r, req, rd, arrived)
	}
	in.ReplyStored(r.From, u.lanes[req.Lane].answer(req))
	return false
}

// setEnd sets where the read ends, from where it begins.
func (rd *reading) setEnd() {
	part, end := protocol.ReadEnd(rd.header, rd.first, rd.stamp.Size)
	rd.part, rd.to = part, int64(end)
}

// below reports whether the text of a path leads below one of the roots. The code that opens the file makes sure that no symbolic link
// leads out of the root.
func (in *Input) below(path string) bool {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
		return false
	}
	return slices.ContainsFunc(in.About.Roots, func(root string) bool { return Below(root, path) })
}

// Below reports whether the text of a path leads below a root, both absolute and clean.
func Below(root, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) && path != root
}

// contradicts fails a session whose client uses a number of a lane twice, with different content.
func (in *Input) contradicts(r *role.Request, u *upload, req *protocol.Request) {
	in.fail(r.From, u, fmt.Sprintf("lane %d: %s %d came twice with different content; the client may not use a number again", req.Lane,
		req.Type, req.Seq))
}

// decline notes that a file is not read here. Nothing of it has been fed.
func (in *Input) decline(u *upload, lane uint32, rd *reading, why string) {
	delete(u.reads, lane)
	last := taken{seq: rd.seq, sum: rd.sum, declined: why[:min(len(why), maxDeclined)]}
	u.lanes[lane] = last
	u.lastProgress = in.now
	in.Host.Record(encodeDeclined(u.ID, lane, last))
}

// maxDeclined bounds, in bytes, the text of a refusal. It is kept until the lane brings something else.
const maxDeclined = 6 << 10

// readSum returns a checksum of everything in a read but its number.
func readSum(req *protocol.Request) uint32 {
	sum := crc32.Update(1, castagnoli, []byte(req.Stream+"\x00"+req.File+"\x00"+req.Path+"\x00"))
	for _, v := range []uint64{req.Line, req.From, req.Stamp.Size, uint64(req.Stamp.Modified), req.Stamp.Inode} {
		sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, v))
	}
	return crc32.Update(sum, castagnoli, req.Header)
}

// Reads implements role.FileReader.
func (in *Input) Reads() (all []role.Read) {
	for _, u := range in.uploads {
		if len(u.reads) == 0 {
			continue
		}
		texts := 0
		for _, lane := range slices.Sorted(maps.Keys(u.reads)) {
			rd := u.reads[lane]
			if rd.part < 0 {
				texts++
			}
			if rd.part < 0 && texts > readsAtOnce {
				continue
			}
			s := &u.Analysis.Streams[rd.stream]
			all = append(all, role.Read{
				ID: rd.id, Session: u.ID, Stream: rd.stream, Reference: s.Reference, Of: s, File: rd.file, Header: rd.header, Part: rd.part,
				Path: rd.path, Stamp: rd.stamp,
				From: rd.at, To: rd.to, Line: rd.line, Chunk: in.mostRecords(s.Name, rd, int(in.About.Limits.Chunk)),
				MaxRecord: in.mostRecords(s.Name, rd, protocol.MaxData),
			})
		}
	}
	slices.SortFunc(all, func(a, b role.Read) int { return cmp.Compare(a.ID, b.ID) }) // independent of the order of the map
	return all
}

// mostRecords returns how many bytes of records a piece may have: as many as a client could send in one request (R15). The parser may run
// in another node, which gets the piece as it is.
func (in *Input) mostRecords(stream string, rd *reading, want int) int {
	const head = 512 // bytes; more than the keys and numbers take
	want = min(want, protocol.MaxData)
	if frame := int(in.About.Limits.Frame); frame > 0 {
		want = min(want, frame-head-len(rd.header)-len(rd.file)-len(stream))
	}
	return max(1, want)
}

// TakePiece implements role.FileReader.
func (in *Input) TakePiece(now time.Time, p *role.Piece) (taken bool) {
	in.advanceClock(now)
	u, lane, rd := in.reading(p)
	if rd == nil || rd.at != p.From {
		return true // the session is over, or the piece was taken before
	}
	switch {
	case p.Err != nil && !rd.begun:
		in.decline(u, lane, rd, fmt.Sprintf("node %s does not read it where it lies: %v", in.About.Node, p.Err))
		return true
	case p.Err != nil:
		why := gateway.Outcome{Code: protocol.ErrBadInput, Reason: fmt.Sprintf("session %s at node %s: stream %s: %v", u.ID, in.About.Node,
			u.Analysis.Streams[rd.stream].Name, p.Err)}
		in.Host.Abort(u.ID, why.ForRole())
		return true
	case !in.Host.Room(u.ID, p.Reference):
		return false
	}
	sum := uint32(0)
	if p.Chunk != nil {
		sum = p.Chunk.Sum()
	}
	if err := u.cover(rd.place(p.To, sum), in.coveredBytes()); err != nil {
		why := gateway.Outcome{Code: protocol.ErrFailed, Reason: fmt.Sprintf(
			"session %s at node %s: stream %s: %v, and its client has them read where they lie", u.ID, in.About.Node,
			u.Analysis.Streams[rd.stream].Name, err)}
		in.Host.Abort(u.ID, why.ForRole())
		return true
	}
	if !rd.begun {
		rd.begun = true
		in.Host.Record(encodeRead(u.ID, lane, rd))
	}
	in.Host.Record(encodeRange(u.ID, lane, p.To, p.Line, sum))
	u.advance(lane, p.To, p.Line)
	u.lastProgress = in.now
	if p.Chunk != nil {
		_ = in.Host.Feed(u.ID, role.Message{Stream: p.Stream, Chunk: p.Chunk}) // an error has failed the session
	}
	return true
}

// place returns the place in the file of the records between rd.at and to, in the form that chunks have. Nothing is between the last
// records of a part and its end.
func (rd *reading) place(to int64, sum uint32) *coverage.Chunk {
	c := &coverage.Chunk{Stream: rd.stream, File: rd.file, Header: crc32.Checksum(rd.header, castagnoli), At: uint64(rd.at),
		Size: uint64(to - rd.at), Sum: sum}
	switch {
	case rd.part < 0:
		c.At -= rd.first
	case to == rd.to:
		c.Size = 0
	}
	return c
}

// giveUpReads ends all reads of a session whose client has left. What was fed counts as taken. The next client sends the rest.
func (u *upload) giveUpReads() {
	for lane, rd := range u.reads {
		if rd.begun {
			u.lanes[lane] = taken{seq: rd.seq, sum: rd.sum}
		}
	}
	clear(u.reads)
}

// reading finds the read that a piece belongs to.
func (in *Input) reading(p *role.Piece) (*upload, uint32, *reading) {
	if u := in.uploads[p.Session]; u != nil {
		for lane, rd := range u.reads {
			if rd.id == p.Read {
				return u, lane, rd
			}
		}
	}
	return nil, 0, nil
}

// advance moves a read to the byte after what was fed. At the end of the file, the number of the lane counts as taken.
func (u *upload) advance(lane uint32, to int64, line uint64) {
	rd := u.reads[lane]
	u.bytes += rd.place(to, 0).Size
	u.chunks++
	if rd.at, rd.line = to, line; to == rd.to {
		delete(u.reads, lane)
		u.lanes[lane] = taken{seq: rd.seq, sum: rd.sum}
	}
}
