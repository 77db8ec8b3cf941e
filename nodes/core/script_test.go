package core

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core/record"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

var update = flag.Bool("update", false, "rewrite the expected output of testdata/*.txt")

// TestScripts runs testdata/*.txt. Lines that begin with "> " are commands, and the lines below each are the core's answer. -update
// rewrites the answers; review the diff. Commands:
//
//	> node SHAPE [window=N] [commit=N]             a new node, see shape in fake_test.go
//	> EDGE FROM hello SENT [log=L] [inc=N] [floor=N]
//	> EDGE FROM SEQ open|takeover SESSION [client …] [owner=NAME] [log=L] [inc=N]
//	> EDGE FROM SEQ data|end|abort SESSION [stream] [payload] [log=L] [inc=N] [by=client] [owner=NAME]
//	> seal                 what is to be stored; > stored: it is on disk now
//	> out                  what may leave now
//	> ack EDGE FROM HWM [log=L] [resend] [inc=N]   from a receiver
//	> connected EDGE NODE   > dialled EDGE NODE   > wait DURATION   > request SESSION VERB [word]
//	> snapshot             > crash: a new incarnation recovers from what was stored
//
// After every command but seal, stored and out, the core takes what it can.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { runScript(t, f) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	s := &script{t: t, now: time.Unix(1_700_000_000, 0)}
	for _, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "> "):
			fmt.Fprintf(&got, "%s\n%s", line, s.do(strings.Fields(line[2:])))
		case strings.HasPrefix(line, "#"), line == "":
			got.WriteString(line + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got.String() != strings.TrimRight(string(text), "\n")+"\n" {
		t.Errorf("%s: another output (see it with -update):\n%s", file, got.String())
	}
}

type script struct {
	t        *testing.T
	now      time.Time
	shape    []string
	inc      link.Incarnation
	c        *Core
	commit   *Commit
	disk     [][]byte
	snapshot []byte
	retired  bool
	at       link.LogIndex
}

// do carries out one command and returns what it prints.
func (s *script) do(f []string) string {
	var out strings.Builder
	switch f[0] {
	case "node":
		s.shape, s.inc, s.disk, s.snapshot, s.at = f[1:], 0, nil, nil, 0
		s.start(&out)
	case "seal":
		s.seal(&out)
		return out.String()
	case "stored":
		if s.commit == nil {
			return "  nothing was being stored\n"
		}
		s.disk = append(s.disk, bytes.Join(s.commit.Parts, nil))
		s.c.Stored(s.commit, link.LogIndex(len(s.disk)))
		s.commit = nil
		return ""
	case "out":
		s.out(&out)
		return out.String()
	case "ack":
		s.ack(f[1:])
	case "connected":
		s.c.Connected(f[1], link.NodeID(f[2]))
	case "dialled":
		s.c.Dialled(f[1], link.NodeID(f[2]))
	case "wait":
		d, err := time.ParseDuration(f[1])
		s.must(err)
		s.now = s.now.Add(d)
	case "request":
		if !s.c.Request(s.now, &role.Request{From: 1, Body: []byte(strings.Join(f[1:], " "))}) {
			return "no gateway knows it\n"
		}
	case "snapshot":
		s.snapshot, s.at = s.c.Snapshot(), link.LogIndex(len(s.disk))
	case "crash":
		s.start(&out)
	default:
		hear(s.c, s.frame(f))
	}
	if why := s.c.Retired(); why != "" && !s.retired {
		s.retired = true
		fmt.Fprintf(&out, "  retires: %s\n", why)
	}
	before := s.c.Counters
	s.c.Tick(s.now)
	s.c.Advance()
	s.dropped(&out, before)
	return out.String()
}

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) start(out *strings.Builder) {
	cfg, err := shape(s.shape[0])
	s.must(err)
	for _, o := range s.shape[1:] {
		name, value, _ := strings.Cut(o, "=")
		n, err := strconv.Atoi(value)
		s.must(err)
		if name == "window" {
			cfg.Window = n
		} else {
			cfg.Commit = n
		}
	}
	s.inc++
	s.commit = nil
	cfg.ID = link.Identity{LogID: logOf("mine"), Incarnation: s.inc, Life: link.Life(s.inc)}
	s.c, err = New(cfg)
	s.must(err)
	analysis := NewLogAnalysis(nil)
	for i, rec := range s.disk {
		analysis.Add(link.LogIndex(i+1), rec)
	}
	r, err := s.c.Recover(s.snapshot, s.at, analysis)
	s.must(err)
	for i, rec := range s.disk {
		if link.LogIndex(i+1) < r.First() {
			continue
		}
		if err := r.Replay(link.LogIndex(i+1), rec); err != nil {
			fmt.Fprintf(out, "  does not recover: %v\n", err)
			return
		}
	}
	s.must(r.Done())
}

// options removes the words of the form key=value from a command and returns them.
func (s *script) options(f []string) (rest []string, o map[string]string) {
	o = map[string]string{"log": "theirs", "inc": "1", "floor": "0"}
	for _, w := range f {
		if k, v, ok := strings.Cut(w, "="); ok {
			o[k] = v
		} else {
			rest = append(rest, w)
		}
	}
	return rest, o
}

func (s *script) number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	s.must(err)
	return n
}

func (s *script) theirs(o map[string]string) link.Identity {
	inc := s.number(o["inc"])
	return link.Identity{LogID: logOf(o["log"]), Incarnation: link.Incarnation(inc), Life: link.Life(inc)}
}

func (s *script) frame(f []string) link.Frame {
	f, o := s.options(f)
	x := link.Frame{
		Edge: f[0], From: link.NodeID(f[1]),
		ID: s.theirs(o),
	}
	if f[2] == "hello" {
		x.Kind = link.Hello
		x.Payload = link.HelloPayload{To: "me-1", Floor: link.Seq(s.number(o["floor"])), Sent: link.Seq(s.number(f[3]))}.Encode()
		return x
	}
	x.Seq, x.Session = link.Seq(s.number(f[2])), sessionOf(f[4])
	switch f[3] {
	case "open":
		x.Kind, x.Payload = link.Open, announcementBy(o["owner"], f[5:])
	case "takeover":
		x.Kind, x.Payload = link.TakeOver, announcementBy(o["owner"], f[5:])
	case "data":
		x.Kind, x.Stream, x.Payload = link.Data, int(s.number(f[5])), []byte(f[6])
	case "end":
		x.Kind, x.Stream = link.End, int(s.number(f[5]))
	case "abort":
		t := tombstone{Outcome: role.Outcome{Failed: true, Reason: strings.Join(f[5:], " "), Owner: o["owner"]}}
		if o["by"] != "" {
			t.Openers = openersOf(o["by"])
		}
		x.Kind, x.Payload = link.Abort, t.append(nil)
	default:
		s.t.Fatalf("no kind of frame: %v", f)
	}
	return x
}

// announcementBy returns an announcement that several clients of an owner have opened: each has taken the session over from the one before.
func announcementBy(owner string, clients []string) []byte {
	return role.Announcement{Analysis: "test", Openers: openersOf(clients...), Owner: owner}.Encode()
}

func openersOf(clients ...string) (all session.Openers) {
	for _, c := range clients {
		all = append(all, session.TokenHash([]byte(fmt.Sprintf("%-16s", c))))
	}
	return all
}

// clientsOf returns the openers of an announcement, and its owner.
func clientsOf(payload []byte) string {
	a, err := role.DecodeAnnouncement(payload)
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, h := range a.Openers {
		text += " " + strings.TrimSpace(string(h[:]))
	}
	return text + ofOwner(a.Owner)
}

func ofOwner(owner string) string {
	if owner == "" {
		return ""
	}
	return " owner=" + owner
}

func (s *script) ack(f []string) {
	f, o := s.options(f)
	log := logOf("mine")
	if o["knows"] != "" {
		log = link.LogID{}
	}
	s.c.Ack(link.Ack{
		Edge: f[0], To: "me-1", Log: log, Hwm: link.Seq(s.number(f[2])), Resend: len(f) > 3, Receiver: link.NodeID(f[1]),
		Echo: link.Life(s.inc), ID: s.theirs(o),
	}, s.now)
}

func (s *script) dropped(out *strings.Builder, before Counters) {
	now := s.c.Counters
	for _, d := range []struct {
		name string
		n    uint64
	}{
		{"duplicate", now.Duplicates - before.Duplicates}, {"gap", now.Gaps - before.Gaps},
		{"zombie", now.Zombies - before.Zombies}, {"unknown", now.Unknown - before.Unknown}, {"damaged", now.Damaged - before.Damaged},
	} {
		if d.n > 0 {
			fmt.Fprintf(out, "  dropped: %s\n", d.name)
		}
	}
}

var opNames = map[record.Op]string{
	record.Open: "open", record.Data: "data", record.Ended: "ended by", record.End: "end", record.More: "more", record.Drop: "drop",
	record.Private: "private", record.Join: "opened by", record.TakeOver: "takeover",
}

func (s *script) seal(out *strings.Builder) {
	s.commit = s.c.Seal()
	if s.commit == nil {
		out.WriteString("  nothing to store\n")
		return
	}
	rec, err := record.Decode(bytes.Join(s.commit.Parts, nil))
	s.must(err)
	for _, h := range rec.Hwms {
		fmt.Fprintf(out, "  hwm %s %s %d of %s.%d\n", h.Edge, h.From, h.Seq, nameOf([16]byte(h.ID.LogID)), h.ID.Incarnation)
	}
	for _, in := range rec.Inputs {
		fmt.Fprintf(out, "  input %s\n", strings.TrimRight(s.input(&in), " "))
	}
	for _, f := range rec.Frames {
		fmt.Fprintf(out, "  frame %s\n", describe(string(f.Edge), string(f.To), &f.Frame))
	}
}

func (s *script) input(in *record.Input) string {
	text := fmt.Sprintf("%s %s", opNames[in.Op], nameOf(in.Session))
	switch in.Op {
	case record.Data:
		return fmt.Sprintf("%s stream %d role %d %q", text, in.Stream, in.Role, in.Payload)
	case record.TakeOver:
		return text + clientsOf(in.Payload)
	case record.Ended, record.Open, record.Join:
		return fmt.Sprintf("%s stream %d %s %s", text, in.Stream, in.Edge, in.From)
	case record.End, record.More:
		return fmt.Sprintf("%s stream %d role %d", text, in.Stream, in.Role)
	case record.Drop:
		o, err := decodeTombstone(in.Payload)
		s.must(err)
		return fmt.Sprintf("%s %q%s", text, o.Reason, ofOwner(o.Owner))
	}
	return fmt.Sprintf("%s%q", text, in.Payload)
}

func describe(edge, to string, f *link.Frame) string {
	text := fmt.Sprintf("%s→%s %d %s %s", edge, to, f.Seq, f.Kind, nameOf(f.Session))
	switch f.Kind {
	case link.Hello:
		g, err := link.DecodeHello(f.Payload)
		if g.Superseded != 0 {
			return fmt.Sprintf("%s→%s superseded: life %d of %s", edge, to, g.Superseded, g.To)
		}
		return fmt.Sprintf("%s→%s hello to %s, floor %d, sent %d %v", edge, to, g.To, g.Floor, g.Sent, orEmpty(err))
	case link.Data:
		return fmt.Sprintf("%s stream %d %q", text, f.Stream, f.Payload)
	case link.End:
		return fmt.Sprintf("%s stream %d", text, f.Stream)
	case link.Open, link.TakeOver:
		return text + clientsOf(f.Payload)
	case link.Abort:
		return fmt.Sprintf("%s %q%s", text, outcomeIn(f.Payload).Reason, ofOwner(outcomeIn(f.Payload).Owner))
	}
	return text
}

func orEmpty(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (s *script) out(out *strings.Builder) {
	o := s.c.Output(s.now)
	for _, a := range o.Acks {
		resend := ""
		if a.Resend {
			resend = ", resend"
		}
		if a.Superseded {
			resend = fmt.Sprintf(", superseded: life %d of %s", a.Echo, nameOf([16]byte(a.Log)))
		}
		fmt.Fprintf(out, "  ack %s→%s %d%s\n", a.Edge, a.To, a.Hwm, resend)
	}
	for _, x := range o.Sends {
		for i := range x.Frames {
			fmt.Fprintf(out, "  send %s\n", strings.TrimRight(describe(x.Edge, string(x.To), &x.Frames[i]), " "))
		}
	}
	for _, r := range o.Replies {
		fmt.Fprintf(out, "  reply %s\n", r.Body)
	}
}

func encodeAbort(reason string) []byte {
	t := tombstone{Outcome: role.Outcome{Failed: true, Reason: reason}}
	return t.append(nil)
}

func outcomeIn(payload []byte) tombstone {
	o, err := decodeTombstone(payload)
	if err != nil {
		panic(err)
	}
	return o
}
