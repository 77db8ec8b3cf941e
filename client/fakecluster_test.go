package client

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	columns "posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/zmqx"
)

// fakeCluster keeps what the nodes of a real cluster would have on their disks; fakeNodes start and stop in front of it. It checks what the
// protocol demands of a client, and fails the test if the client breaks a rule.
type fakeCluster struct {
	t          testing.TB
	inputs     []*fakeNode
	outputs    []*fakeNode
	streams    []protocol.Stream
	rows       int // of the query "numbers"
	timeout    time.Duration
	chunkBytes int
	forget     bool // count the bytes of chunks without keeping them

	mu       sync.Mutex
	sessions map[session.ID]*fakeSession
	busy     int                               // how many opens are still refused
	late     int                               // how many requests outputs still answer as if they did not know the session
	expired  bool                              // the results have expired
	over     bool                              // pings report that the session is over
	instead  map[string]func() protocol.Reply  // replaces the answer to results, by node
	fail     string                            // the reason with which sessions fail from now on
	heard    map[string]int                    // number of requests, by "node type"; a request that is late may be repeated
	openers  map[string]map[session.Token]bool // which clients have opened a session, by node
	// number of pings that claimed lanes, or the end of a stream, or told how far the files are ("files")
	claimed map[string]int
	fault   func(heard) fault // decides which fault a request meets; nil: none
}

// heard is a request that arrived at a node.
type heard struct {
	node    string
	request protocol.Request
	before  int // how often this node has got the same bytes before
}

// fault is what happens to a request. With the zero value it is answered.
type fault struct {
	deaf  bool          // the request is lost
	mute  bool          // the request is carried out and the answer lost
	twice bool          // the answer is sent twice
	delay time.Duration // the answer is late
}

type fakeSession struct {
	token    session.Token
	former   map[session.Token]bool   // of clients whose session was taken over
	taken    map[string]*coverage.Set // by node
	opened   map[string]bool
	lanes    map[laneKey]uint64
	last     map[laneKey][]byte // the records of the last chunk
	ended    map[string][]string
	records  map[string][]string // by stream and file
	columnar int                 // number of column chunks
	bytes    int64
	dropped  map[string]protocol.RequestType // cancel or close, by node
}

type laneKey struct {
	node string
	lane uint32
}

var fakeStreams = []protocol.Stream{
	{Name: "stations", Reference: true, Files: "*/stations.csv", Comma: ','},
	{Name: "trips", Files: "*/trips.csv", Comma: ','},
}

func newFakeCluster(t testing.TB, inputs, outputs int) *fakeCluster {
	return newFakeClusterWith(t, inputs, outputs, func(string) zmqx.TLS { return nil })
}

// newFakeClusterWith starts a cluster whose sockets use TLS.
func newFakeClusterWith(t testing.TB, inputs, outputs int, tls func(node string) zmqx.TLS) *fakeCluster {
	f := &fakeCluster{t: t, streams: fakeStreams, rows: 1000, timeout: 400 * time.Millisecond, chunkBytes: 64 << 10,
		sessions: make(map[session.ID]*fakeSession),
		heard:    make(map[string]int), openers: make(map[string]map[session.Token]bool), claimed: make(map[string]int)}
	for i := range inputs {
		name := fmt.Sprintf("input-%d", i+1)
		f.inputs = append(f.inputs, newFakeNode(f, name, tls(name)))
	}
	for i := range outputs {
		name := fmt.Sprintf("output-%d", i+1)
		f.outputs = append(f.outputs, newFakeNode(f, name, tls(name)))
	}
	t.Cleanup(func() {
		for _, n := range append(f.inputs, f.outputs...) {
			n.stop()
		}
	})
	return f
}

func endpoints(nodes []*fakeNode) (list []string) {
	for _, n := range nodes {
		list = append(list, n.endpoint)
	}
	return list
}

func nodeNames(nodes []*fakeNode) (list []string) {
	for _, n := range nodes {
		list = append(list, n.name)
	}
	return list
}

// config returns a configuration for a client of this cluster, with short times.
func (f *fakeCluster) config() Config {
	return Config{Entries: []string{f.inputs[0].endpoint}, Analysis: "bikes", Timeout: 150 * time.Millisecond,
		GiveUpAfter: 20 * time.Second}
}

// count returns how many requests of a type a node got.
func (f *fakeCluster) count(node string, ask protocol.RequestType) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.heard[node+" "+string(ask)]
}

// clients returns how many clients have asked a node to open a session.
func (f *fakeCluster) clients(node string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.openers[node])
}

// one returns a copy of the only session there is: what a client has said once more while it waited may still come.
func (f *fakeCluster) one() *fakeSession {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions) != 1 {
		f.t.Fatalf("%d sessions in the cluster", len(f.sessions))
	}
	for _, s := range f.sessions {
		now := *s
		now.opened, now.lanes, now.ended = maps.Clone(s.opened), maps.Clone(s.lanes), maps.Clone(s.ended)
		now.records, now.dropped = maps.Clone(s.records), maps.Clone(s.dropped)
		return &now
	}
	return nil
}

// answer carries out a request. Everything is idempotent: a request that is repeated gets the same answer again.
func (f *fakeCluster) answer(n *fakeNode, q protocol.Request) protocol.Reply {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard[n.name+" "+string(q.Type)]++
	if q.Type == protocol.Open {
		if f.openers[n.name] == nil {
			f.openers[n.name] = map[session.Token]bool{}
		}
		f.openers[n.name][q.Token] = true
	}
	isInput := slices.Contains(f.inputs, n)
	switch q.Type {
	case protocol.Info:
		return protocol.Reply{Type: protocol.About, Cluster: "fake", Node: n.name, Version: "0", Inputs: endpoints(f.inputs),
			Outputs: endpoints(f.outputs), InputNodes: nodeNames(f.inputs), OutputNodes: nodeNames(f.outputs),
			Analyses: []protocol.AnalysisInfo{{Name: "bikes", Streams: f.streams}}}
	case protocol.Open, protocol.Chunk, protocol.End, protocol.Ping:
		if !isInput {
			return protocol.Refuse(protocol.ErrWrongNode, "ask an input")
		}
	case protocol.Results:
		if isInput {
			return protocol.Refuse(protocol.ErrWrongNode, "ask an output")
		}
	}
	switch {
	case q.Type == protocol.Open:
		return f.open(n, q)
	case q.Type == protocol.Sessions:
		return f.list(n)
	case q.Type == protocol.Results && f.late > 0:
		f.late--
		return protocol.Reply{Type: protocol.Refused, Err: protocol.Error{Code: protocol.ErrUnknownSession, RetryAfter: time.Millisecond}}
	case q.Type == protocol.Results && f.instead[n.name] != nil:
		return f.instead[n.name]()
	case q.Type == protocol.Results && f.expired:
		return protocol.Refuse(protocol.ErrExpired, "kept for an hour")
	}
	s := f.sessions[q.Session]
	if s == nil {
		return protocol.Refuse(protocol.ErrUnknownSession, "no session "+q.Session.String())
	}
	if s.former[q.Token] {
		return protocol.Refuse(protocol.ErrSuperseded, "another client has taken it over")
	}
	if q.Token != s.token && q.Token != (session.Token{}) {
		f.t.Errorf("%s with the token of another session", q.Type)
	}
	switch q.Type {
	case protocol.Cancel, protocol.Close:
		s.dropped[n.name] = q.Type
		return protocol.Reply{Type: protocol.OK}
	case protocol.Ping:
		f.claims(n, s, q)
		if f.fail != "" {
			return protocol.Reply{Type: protocol.OK, State: session.Failed, Reason: f.fail}
		}
		if f.over {
			return protocol.Reply{Type: protocol.OK, State: session.Done}
		}
		return protocol.Reply{Type: protocol.OK, State: session.Running}
	case protocol.Chunk:
		return f.chunk(n, s, q)
	case protocol.End:
		return f.end(n, s, q)
	case protocol.Results:
		return f.results(n, s, q)
	}
	return protocol.Refuse(protocol.ErrBadRequest, string(q.Type))
}

// claims compares what a ping claims was acknowledged with what was acknowledged (R14).
func (f *fakeCluster) claims(n *fakeNode, s *fakeSession, q protocol.Request) {
	for _, l := range q.Lanes {
		if has := s.lanes[laneKey{n.name, l.Lane}]; l.Seq == 0 || l.Seq > has {
			f.t.Errorf("a ping claims chunk %d of lane %d at %s, which has %d", l.Seq, l.Lane, n.name, has)
		}
		f.claimed["lanes"]++
	}
	if q.Stream != "" {
		if !slices.Contains(s.ended[n.name], q.Stream) {
			f.t.Errorf("a ping claims the end of %s at %s", q.Stream, n.name)
		}
		f.claimed[q.Stream]++
	}
	if q.FilesSize > 0 {
		if q.FilesRead > q.FilesSize {
			f.t.Errorf("a ping tells that %d bytes of %d are read", q.FilesRead, q.FilesSize)
		}
		f.claimed["files"]++
	}
}

func (f *fakeCluster) list(n *fakeNode) protocol.Reply {
	reply := protocol.Reply{Type: protocol.Listed, Node: n.name}
	for id := range f.sessions {
		reply.Sessions = append(reply.Sessions, protocol.SessionInfo{Session: id, Analysis: "bikes", State: session.Running})
	}
	return reply
}

func (f *fakeCluster) open(n *fakeNode, q protocol.Request) protocol.Reply {
	if q.Analysis != "bikes" {
		return protocol.Refuse(protocol.ErrUnknownAnalysis, "there is bikes")
	}
	if f.busy > 0 {
		f.busy--
		return protocol.Reply{Type: protocol.Refused, Err: protocol.Error{Code: protocol.ErrBusy, RetryAfter: 10 * time.Millisecond}}
	}
	s := f.sessions[q.Session]
	if s == nil {
		s = &fakeSession{token: q.Token, former: make(map[session.Token]bool), taken: make(map[string]*coverage.Set),
			opened: make(map[string]bool), lanes: make(map[laneKey]uint64), last: make(map[laneKey][]byte),
			ended: make(map[string][]string), records: make(map[string][]string), dropped: make(map[string]protocol.RequestType)}
		f.sessions[q.Session] = s
		if n != f.inputs[0] {
			f.t.Errorf("opened at %s first; it must be the first of the inputs", n.name)
		}
	}
	if s.token != q.Token && q.Takeover && n == f.inputs[0] {
		s.former[s.token], s.token = true, q.Token
		clear(s.opened)
	}
	if s.token != q.Token {
		return protocol.Refuse(protocol.ErrInUse, "another client opened it")
	}
	s.opened[n.name] = true
	if s.taken[n.name] == nil {
		s.taken[n.name] = &coverage.Set{}
	}
	reply := protocol.Reply{Type: protocol.Opened, State: session.Running, Inputs: endpoints(f.inputs),
		Outputs: endpoints(f.outputs), Chunk: f.chunkBytes, ClientTimeout: f.timeout, Streams: f.streams,
		Queries: []string{"numbers", "counts"}, Ended: s.ended[n.name]}
	if taken := s.taken[n.name]; taken != nil {
		reply.Ranges = taken.Ranges(func(stream int) string { return f.streams[stream].Name })
	}
	for k, seq := range s.lanes {
		if k.node == n.name {
			reply.Lanes = append(reply.Lanes, protocol.LaneSeq{Lane: k.lane, Seq: seq})
		}
	}
	return reply
}

func (f *fakeCluster) chunk(n *fakeNode, s *fakeSession, q protocol.Request) protocol.Reply {
	key := laneKey{n.name, q.Lane}
	done := protocol.Reply{Type: protocol.OK, Lane: q.Lane, Seq: q.Seq}
	switch {
	case len(s.opened) != len(f.inputs):
		f.t.Errorf("a chunk before the session is open everywhere")
	case q.Seq <= s.lanes[key]:
		if q.Seq == s.lanes[key] && !f.forget && !bytes.Equal(q.Data, s.last[key]) {
			f.t.Errorf("lane %d at %s says %d again with other records", q.Lane, n.name, q.Seq)
		}
		return done
	case q.Seq > s.lanes[key]+1:
		return protocol.Reply{Type: protocol.Refused, Err: protocol.Error{Code: protocol.ErrGap, Want: s.lanes[key] + 1}}
	case slices.Contains(s.ended[n.name], q.Stream):
		return protocol.Refuse(protocol.ErrClosed, q.Stream+" has ended")
	case q.Stream == "trips" && !f.endedEverywhere(s, "stations"):
		f.t.Errorf("R11: facts before the reference stream has ended everywhere")
	}
	s.lanes[key] = q.Seq
	s.bytes += int64(len(q.Data))
	if f.forget {
		return done
	}
	s.last[key] = bytes.Clone(q.Data)
	f.place(n, s, q)
	f.keep(s, q)
	return done
}

// place notes which bytes of its file a chunk has, as an input does.
func (f *fakeCluster) place(n *fakeNode, s *fakeSession, q protocol.Request) {
	if !q.Placed {
		s.taken[n.name].GiveUp()
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	f.check(s.taken[n.name].Add(coverage.Chunk{Stream: slices.IndexFunc(f.streams,
		func(s protocol.Stream) bool { return s.Name == q.Stream }), File: q.File,
		Header: crc32.Checksum(q.Header, table), At: q.At, Size: uint64(len(q.Data)), Sum: crc32.Checksum(q.Data, table)}, 1<<20))
}

// keep splits a chunk into records. The tests' files have one record a line, except for quoted line ends, which follow a backslash. Each
// record contains its own line number, so that Line is checked, too.
func (f *fakeCluster) keep(s *fakeSession, q protocol.Request) {
	if bytes.HasPrefix(q.Header, []byte("\x1e,c")) {
		f.keepColumns(s, q)
		return
	}
	if string(bytes.TrimPrefix(q.Header, []byte("\x1e,r"))) != "id,line" {
		f.t.Errorf("header of %s is %q", q.File, q.Header)
	}
	joined := bytes.ReplaceAll(q.Data, []byte("\\\n"), []byte("\\"))
	for i, record := range bytes.Split(bytes.TrimSuffix(joined, []byte("\n")), []byte("\n")) {
		if i == 0 && !bytes.HasSuffix(record, fmt.Appendf(nil, ",%d", q.Line)) {
			f.t.Errorf("%s: record %q is said to be in line %d", q.File, record, q.Line)
		}
		key := q.Stream + " " + q.File
		s.records[key] = append(s.records[key], string(record))
	}
}

// keepColumns is keep for a chunk of columns.
func (f *fakeCluster) keepColumns(s *fakeSession, q protocol.Request) {
	key := q.Stream + " " + q.File
	s.columnar++
	header, err := csv.ParseHeader(q.Header, ',')
	f.check(err)
	mapping, err := header.Find([]csv.Column{{Name: "id"}, {Name: "line"}})
	f.check(err)
	rows := columns.NewScanner(mapping)
	for f.check(rows.Reset(q.Data, q.Line)); rows.Next(); {
		record := rows.Row()
		if !bytes.HasSuffix(record, fmt.Appendf(nil, ",%d", rows.Line())) {
			f.t.Errorf("%s: record %q is said to be in line %d", q.File, record, rows.Line())
		}
		s.records[key] = append(s.records[key], string(record))
	}
}

func (f *fakeCluster) endedEverywhere(s *fakeSession, stream string) bool {
	for _, n := range f.inputs {
		if !slices.Contains(s.ended[n.name], stream) {
			return false
		}
	}
	return true
}

func (f *fakeCluster) end(n *fakeNode, s *fakeSession, q protocol.Request) protocol.Reply {
	if slices.Contains(s.ended[n.name], q.Stream) {
		return protocol.Reply{Type: protocol.OK}
	}
	said := make(map[uint32]uint64)
	for _, l := range q.Lanes {
		said[l.Lane] = l.Seq
	}
	for k, seq := range s.lanes {
		if k.node == n.name && said[k.lane] != seq {
			f.t.Errorf("end of %s says %d for lane %d at %s, which has %d", q.Stream, said[k.lane], k.lane, n.name, seq)
		}
	}
	s.ended[n.name] = append(s.ended[n.name], q.Stream)
	return protocol.Reply{Type: protocol.OK}
}

// results returns the parts of two queries. Every output cuts them at other places, as real outputs may.
func (f *fakeCluster) results(n *fakeNode, s *fakeSession, q protocol.Request) protocol.Reply {
	if f.fail != "" {
		return protocol.Reply{Type: protocol.Parts, State: session.Failed, Reason: f.fail}
	}
	if !f.endedEverywhere(s, "trips") {
		return protocol.Reply{Type: protocol.Parts, State: session.Running}
	}
	parts := f.parts(s, 100+50*slices.Index(f.outputs, n))
	last := min(len(parts), int(q.After)+2)
	return protocol.Reply{Type: protocol.Parts, State: session.Done, Parts: parts[min(int(q.After), last):last], Complete: last == len(parts)}
}

func (f *fakeCluster) parts(s *fakeSession, size int) (parts []protocol.Part) {
	for from := 0; from < f.rows; from += size {
		rows := protocol.NewRows(1)
		for i := from; i < min(f.rows, from+size); i++ {
			f.check(rows.Add(protocol.Value{Kind: protocol.Int, Int: int64(i)}))
		}
		parts = append(parts, protocol.Part{Query: "numbers", Columns: []string{"n"}, Offset: uint64(from), Rows: rows,
			Last: from+size >= f.rows})
	}
	counts := protocol.NewRows(2)
	for _, stream := range f.streams {
		n := 0
		for key, records := range s.records {
			if bytes.HasPrefix([]byte(key), []byte(stream.Name+" ")) {
				n += len(records)
			}
		}
		f.check(counts.Add(protocol.Value{Text: stream.Name}, protocol.Value{Kind: protocol.Int, Int: int64(n)}))
	}
	parts = append(parts, protocol.Part{Query: "counts", Columns: []string{"stream", "records"}, Rows: counts, Last: true},
		protocol.Part{Rejected: []protocol.Rejected{{Stream: "trips", Rows: 1,
			First: []protocol.RejectedRow{{File: "a/trips.csv", Line: 3, Reason: "no \"id\""}}}}})
	for i := range parts {
		parts[i].N = uint64(i + 1)
	}
	return parts
}

func (f *fakeCluster) check(err error) {
	if err != nil {
		f.t.Error(err)
	}
}

// during returns a context that ends a test that hangs. d is long enough on an idle machine; a busy one gets more.
func during(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*d)
	t.Cleanup(cancel)
	return ctx
}

// slowly delays chunks and results, so that pings are sent in between.
func (f *fakeCluster) slowly() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.timeout, f.chunkBytes = 400*time.Millisecond, 8000
	f.fault = func(h heard) fault {
		switch h.request.Type {
		case protocol.Chunk:
			return fault{delay: 40 * time.Millisecond}
		case protocol.Results:
			return fault{delay: 500 * time.Millisecond}
		}
		return fault{}
	}
}

// pinged reports whether pings have claimed lanes, and the end of each stream, and told how far the files are.
func (f *fakeCluster) pinged() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, what := range []string{"lanes", "trips", "files"} {
		if f.claimed[what] == 0 {
			f.t.Errorf("no ping has claimed %s: %v", what, f.claimed)
		}
	}
}
