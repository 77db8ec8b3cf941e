package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func rowsOf(t *testing.T, texts ...string) protocol.Rows {
	t.Helper()
	rows := protocol.NewRows(2)
	for i, text := range texts {
		must(t, rows.Add(protocol.Value{Kind: protocol.Text, Text: text}, protocol.Value{Kind: protocol.Int, Int: int64(i)}))
	}
	return rows
}

// answerOf is an answer with texts that are not UTF-8, and with a query without rows.
func answerOf(t *testing.T, id session.ID) *client.Answer {
	t.Helper()
	return &client.Answer{Analysis: "sql", Session: id,
		Queries: []client.Table{client.NewTable("a", []string{"s", "n"}, rowsOf(t, "x", "\xff"), rowsOf(t, "y")),
			client.NewTable("none", []string{"s", "n"})},
		Rejected: []protocol.Rejected{{Stream: "t", Rows: 7, First: []protocol.RejectedRow{{File: "t.csv", Line: 3, Reason: "n is no number"}}}},
		Warnings: []client.Warning{{Path: "t\xfe.csv", Text: "cut"}}}
}

// step is one thing that a command notes.
type step func(t *testing.T, j *Journal) error

// steps are those of a command: a pass, a session that fails, one that is given up, and the one that runs.
func steps() []step {
	id := func(n byte) session.ID { return session.ID{n} }
	return []step{
		func(_ *testing.T, j *Journal) error {
			return j.Head(Header{Began: time.Unix(1, 0).UTC(), Cluster: "c", Params: map[string]string{"p": "1"}})
		},
		func(_ *testing.T, j *Journal) error { return j.Begin(Session{ID: id(1), Plan: [32]byte{1}}) },
		func(_ *testing.T, j *Journal) error { return j.Warn(client.Warning{Path: "t\xfe.csv", Text: "cut"}) },
		func(t *testing.T, j *Journal) error { return j.Answer(answerOf(t, id(1))) },
		func(_ *testing.T, j *Journal) error {
			return j.Begin(Session{ID: id(2), Plan: [32]byte{2}, Heads: map[string]int64{"t": 9}})
		},
		func(_ *testing.T, j *Journal) error { return j.Fail(Failure{"it failed", []string{"failed"}}) },
		func(_ *testing.T, j *Journal) error { return j.Begin(Session{ID: id(3), Plan: [32]byte{3}}) },
		func(_ *testing.T, j *Journal) error { return j.Begin(Session{ID: id(4), Plan: [32]byte{3}}) },
	}
}

// told returns all that a journal says.
func told(t *testing.T, j *Journal) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", j.Header())
	if h := j.Header(); h != nil && h.Began.Location() != time.UTC {
		t.Errorf("a command began at %v", h.Began)
	}
	for _, s := range j.Sessions() {
		fmt.Fprintf(&b, "%s %x %v %q", s.ID, s.Plan[:1], s.Heads, s.Warnings())
		if f := s.Failed(); f != nil {
			fmt.Fprintf(&b, " failed: %s %v", f.Text, f.Kinds)
		}
		if s.Answered() {
			a, err := j.Read(s)
			must(t, err)
			must(t, a.WriteJSON(&b))
			fmt.Fprintf(&b, "%q", a.Warnings)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// reopened returns what a file says as a journal.
func reopened(t *testing.T, name string) string {
	t.Helper()
	j, err := Open(name)
	must(t, err)
	defer func() { must(t, j.Close()) }()
	return told(t, j)
}

// written returns a whole journal, where each of its records ends, and what it says there.
func written(t *testing.T) (whole []byte, states map[int64]string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "journal")
	j, err := Create(name)
	must(t, err)
	for _, do := range steps() {
		must(t, do(t, j))
	}
	must(t, j.Close())
	whole, err = os.ReadFile(name)
	must(t, err)
	states = map[int64]string{}
	at := filepath.Join(t.TempDir(), "journal")
	for n := 0; n <= len(whole); {
		must(t, os.WriteFile(at, whole[:n], 0o600))
		states[int64(n)] = reopened(t, at)
		switch n {
		case 0:
			n = len(magic)
		case len(whole):
			n++
			continue
		}
		n += frameHead + int(binary.BigEndian.Uint32(whole[n:])) + frameTail
	}
	if len(states) != 11 { // the empty file, and after each of the records: an answer has three
		t.Fatalf("the journal has %d states", len(states))
	}
	return whole, states
}

// last returns the last state that is whole at n.
func last(states map[int64]string, n int64) string {
	for ; n > 0; n-- {
		if s, is := states[n]; is {
			return s
		}
	}
	return states[0]
}

// TestR17_AJournalIsCutAtAnyByte: a journal that ends anywhere says what it said after its last whole record, and can be continued.
func TestR17_AJournalIsCutAtAnyByte(t *testing.T) {
	whole, states := written(t)
	full := states[int64(len(whole))]
	if strings.Count(full, "\n00000000") != 0 || !strings.Contains(full, `"x", 0`) || !strings.Contains(full, "failed: it failed") ||
		!strings.Contains(full, `cut`) || strings.Contains(full, "03000000") {
		t.Fatalf("the whole journal says\n%s", full)
	}
	name := filepath.Join(t.TempDir(), "journal")
	for n := range len(whole) + 1 {
		must(t, os.WriteFile(name, whole[:n], 0o600))
		j, err := Open(name)
		must(t, err)
		if got, want := told(t, j), last(states, int64(n)); got != want {
			t.Fatalf("cut at %d:\n%s\nwant\n%s", n, got, want)
		}
		now, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(now, whole[:n]) {
			t.Fatalf("cut at %d: opening it has changed it: %v", n, err)
		}
		j.f = &small{j.f.(*os.File), 1 << 20, -1}
		if j.Header() == nil {
			must(t, j.Head(Header{Cluster: "c"}))
		}
		must(t, j.Begin(Session{ID: session.ID{9}}))
		must(t, j.Answer(answerOf(t, session.ID{9})))
		must(t, j.Close())
		if got := reopened(t, name); !strings.Contains(got, "09000000") || strings.Count(got, `"session": "09000000`) != 1 {
			t.Fatalf("cut at %d and continued:\n%s", n, got)
		}
	}
}

// TestR17_AJournalIsDamagedAtAnyByte: with another bit anywhere, a journal is refused or says what it said before that record.
func TestR17_AJournalIsDamagedAtAnyByte(t *testing.T) {
	whole, states := written(t)
	name := filepath.Join(t.TempDir(), "journal")
	for n := range whole {
		b := bytes.Clone(whole)
		b[n] ^= 1 << (n % 8)
		must(t, os.WriteFile(name, b, 0o600))
		j, err := Open(name)
		if n < len(magic) {
			if !errors.Is(err, ErrUse) {
				t.Fatalf("byte %d: %v", n, err)
			}
			continue
		}
		must(t, err)
		if got, want := told(t, j), last(states, int64(n)); got != want {
			t.Fatalf("byte %d:\n%s\nwant\n%s", n, got, want)
		}
		if _, lost := j.Lost(); lost == 0 {
			t.Fatalf("byte %d: nothing is said to be lost", n)
		}
		must(t, j.Close())
	}
}

// TestR17_RecordsAreInTheirOrder: a record that was removed, repeated or moved is noticed, although its own bytes are right.
func TestR17_RecordsAreInTheirOrder(t *testing.T) {
	whole, states := written(t)
	var ends []int
	for n := range states {
		if n > 0 {
			ends = append(ends, int(n))
		}
	}
	name := filepath.Join(t.TempDir(), "journal")
	for _, from := range ends {
		for _, to := range ends {
			if from == to {
				continue
			}
			must(t, os.WriteFile(name, append(bytes.Clone(whole[:from]), whole[to:]...), 0o600))
			if got, want := reopened(t, name), states[int64(from)]; got != want {
				t.Fatalf("what stands behind %d is that behind %d:\n%s\nwant\n%s", from, to, got, want)
			}
		}
	}
}

// small is a file on a disk with little room. A write that does not fit is written as far as it does. Sync takes no time: the process does
// not end.
type small struct {
	*os.File
	room  int64
	syncs int // how many syncs succeed; below 0 all do
}

func (s *small) WriteAt(b []byte, at int64) (int, error) {
	if over := at + int64(len(b)) - s.room; over > 0 {
		n, _ := s.File.WriteAt(b[:max(0, int64(len(b))-over)], at)
		return n, syscall.ENOSPC
	}
	return s.File.WriteAt(b, at)
}

func (s *small) Sync() error {
	if s.syncs == 0 {
		return syscall.EIO
	}
	s.syncs--
	return nil
}

// TestR17_AJournalOnAFullDisk: wherever the disk is full, and whichever sync fails, nothing is written any more, and what is in the file is
// a state that the journal had.
func TestR17_AJournalOnAFullDisk(t *testing.T) {
	whole, states := written(t)
	name := filepath.Join(t.TempDir(), "journal")
	try := func(room int64, syncs int) {
		f, err := os.Create(name)
		must(t, err)
		disk := &small{f, room, syncs}
		j := &Journal{name: name, f: disk}
		var broken error
		for i, do := range steps() {
			err := do(t, j)
			if broken != nil && err == nil {
				t.Fatalf("room for %d bytes, %d syncs: step %d is written after %v", room, syncs, i, broken)
			}
			if broken == nil && err != nil {
				broken, disk.room, disk.syncs = err, 1<<20, -1 // there is room again
			}
		}
		if broken == nil || !strings.Contains(broken.Error(), name) {
			t.Fatalf("room for %d bytes, %d syncs: %v", room, syncs, broken)
		}
		must(t, j.Close())
		j, err = Open(name)
		must(t, err)
		from, _ := j.Lost()
		if got := told(t, j); got != states[from] || syncs < 0 && got != last(states, room) {
			t.Fatalf("room for %d bytes, %d syncs:\n%s", room, syncs, got)
		}
		must(t, errors.Join(j.Remove(), j.Close()))
	}
	for room := range whole {
		try(int64(room), -1)
	}
	for syncs := range 6 {
		try(1<<20, syncs)
	}
}

// TestR17_OneProcessHasAJournal: a second one is refused, by name and with what to do.
func TestR17_OneProcessHasAJournal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "journal")
	j, err := Create(name)
	must(t, err)
	if _, err := Open(name); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), name) {
		t.Errorf("opened twice: %v", err)
	}
	must(t, j.Close())
	j, err = Open(name)
	must(t, err)
	if _, err := Open(name); !errors.Is(err, ErrInUse) {
		t.Errorf("opened twice: %v", err)
	}
	must(t, errors.Join(j.Remove(), j.Close()))
	if _, err := Open(name); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("opened after it was removed: %v", err)
	}
}

// TestR17_OtherFilesAreNoJournals: no file that is something else is used or changed.
func TestR17_OtherFilesAreNoJournals(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "trips.csv")
	for _, text := range []string{"id,city\n1,Halifax\n", "p", "posta journal 1\nand more"} {
		must(t, os.WriteFile(name, []byte(text), 0o644))
		j, err := Open(name)
		if text == "p" { // as if it had been cut
			must(t, err)
			must(t, j.Close())
		} else if !errors.Is(err, ErrUse) {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := Create(name); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), "--resume "+name) {
			t.Errorf("%q: %v", text, err)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			t.Errorf("%q became %q, %v", text, now, err)
		}
	}
	if _, err := Open(dir); !errors.Is(err, ErrUse) {
		t.Errorf("a directory: %v", err)
	}
}

// TestR17_AJournalOfAnotherCommand: each difference is named.
func TestR17_AJournalOfAnotherCommand(t *testing.T) {
	stamps := func(size uint64, paths ...string) map[string]map[string]protocol.Stamp {
		m := map[string]protocol.Stamp{}
		for _, p := range paths {
			m[p] = protocol.Stamp{Size: size, Modified: 5, Inode: 6}
		}
		return map[string]map[string]protocol.Stamp{"t": m}
	}
	base := func() *Header {
		return &Header{Version: "1", Text: [32]byte{1}, Params: map[string]string{"a": "1"}, Dir: "/data", Cluster: "c",
			Nodes: []string{"tcp://a:1"}, Files: stamps(1, "/data/t.csv")}
	}
	for want, change := range map[string]func(*Header){
		"":                          func(h *Header) { h.Began = time.Now() },
		"the statements are others": func(h *Header) { h.Text[31] = 1 },
		`the parameters were a="1" and are a="2" b="3"`: func(h *Header) { h.Params = map[string]string{"b": "3", "a": "2"} },
		"and are none":                        func(h *Header) { h.Params = nil },
		`was "/data" and is "/other"`:         func(h *Header) { h.Dir = "/other" },
		"--file was":                          func(h *Header) { h.Named = []client.Named{{As: "t", Path: "/x"}} },
		"the options were":                    func(h *Header) { h.Options = []string{"--strict=true"} },
		"it is of posta 1":                    func(h *Header) { h.Version = "2" },
		"and this is cluster d":               func(h *Header) { h.Cluster = "d" },
		"this one has them at [tcp://b:1]":    func(h *Header) { h.Nodes = []string{"tcp://b:1"} },
		"t has a further file: /data/u.csv":   func(h *Header) { h.Files = stamps(1, "/data/t.csv", "/data/u.csv") },
		"has no file /data/t.csv any more":    func(h *Header) { h.Files = stamps(1) },
		"/data/t.csv was changed or replaced": func(h *Header) { h.Files = stamps(2, "/data/t.csv") },
		"t has no file /data/t.csv any more":  func(h *Header) { h.Files = nil },
	} {
		now := base()
		change(now)
		got := base().Differs(now) + base().OtherCluster(now) + base().OtherFiles(now)
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
