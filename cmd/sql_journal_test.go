package cmd

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/journal"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// framesOf yields a journal's records, in their order: the kind of each, and its bytes.
func framesOf(name string) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		b, err := os.ReadFile(name)
		if err != nil {
			return // it is not there yet
		}
		const magic, head, tail = 16, 5, 4
		for at := magic; at+head <= len(b); {
			end := at + head + int(binary.BigEndian.Uint32(b[at:]))
			if end+tail > len(b) || !yield(b[at+4], b[at+head:end]) {
				return
			}
			at = end + tail
		}
	}
}

// recordsOf returns the kinds of a journal's records.
func recordsOf(name string) (kinds string) {
	for kind := range framesOf(name) {
		kinds += string(kind)
	}
	return kinds
}

// clientProcess is posta submit in a process of its own.
type clientProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	said  await.Log
	ended chan struct{}
}

// begins starts a client. out is its standard output.
func (k *testCluster) begins(out *os.File, args ...string) *clientProcess {
	k.t.Helper()
	p := &clientProcess{t: k.t, cmd: exec.Command(os.Args[0], append([]string{"submit", "-f", k.file}, args...)...),
		ended: make(chan struct{})}
	p.cmd.Stderr = &p.said
	if out != nil {
		p.cmd.Stdout = out
	}
	if err := p.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // it is killed
		close(p.ended)
	}()
	k.t.Cleanup(p.kill)
	return p
}

func (p *clientProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// reaches waits until a condition holds. The client is stopped while that is looked up, and stays stopped if it holds: on a busy machine
// looking takes longer than the rest of a session. Then it runs for about as long as looking took, so that a slow machine does not keep it
// from ever getting there.
func (p *clientProcess) reaches(what string, there func() bool) {
	p.t.Helper()
	for end := time.Now().Add(5 * time.Minute); ; {
		began := time.Now()
		p.signal(syscall.SIGSTOP)
		if there() {
			return
		}
		p.signal(syscall.SIGCONT)
		select {
		case <-p.ended:
			p.t.Fatalf("the client ended before %s:\n%s", what, p.said.String())
		case <-time.After(min(max(time.Since(began), 5*time.Millisecond), 500*time.Millisecond)):
		}
		if time.Now().After(end) {
			p.t.Fatalf("not within the time: %s\n%s", what, p.said.String())
		}
	}
}

func (p *clientProcess) signal(s os.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// begunLast returns the id of the session that a journal began last; the zero id if there is none.
func begunLast(name string) (id session.ID) {
	for kind, b := range framesOf(name) {
		var s journal.Session
		if kind == 'B' && msgpack.Unmarshal(b, &s) == nil {
			id = s.ID
		}
	}
	return id
}

// listed returns the sessions that the cluster lists: for each, the nodes that have heard of it, and how many bytes they have.
func (k *testCluster) listed() map[string]map[string]uint64 {
	k.t.Helper()
	var all struct {
		Sessions []struct {
			Session string
			Nodes   []struct {
				Node  string
				Bytes uint64
			}
		}
	}
	if err := json.Unmarshal([]byte(k.must("sessions", "--json").out), &all); err != nil {
		k.t.Fatal(err)
	}
	nodes := map[string]map[string]uint64{}
	for _, s := range all.Sessions {
		nodes[s.Session] = map[string]uint64{}
		for _, n := range s.Nodes {
			nodes[s.Session][n.Node] = n.Bytes
		}
	}
	return nodes
}

// sends reports whether a session's input has taken something of it, and its output has heard of it.
func (k *testCluster) sends(id session.ID) bool {
	nodes := k.listed()[id.String()]
	_, heard := nodes["output-1"]
	return heard && nodes["input-1"] > 0
}

// stuck returns a pipe that takes nothing any more.
func stuck(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = w.Write(make([]byte, 4096))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return w
}

// TestR17_StatementsAreKilledAndResumed: one client process after the other is killed with SIGKILL: in the middle of a session that is a
// pass of two statements and the answer of a third one, between two sessions, in a session that reads the beginning of a file, in the last
// passes, and while it prints. The last client prints what an undisturbed one prints, and no session is left at the cluster. Nobody else
// uses the journal meanwhile, and it is refused for every other command.
func TestR17_StatementsAreKilledAndResumed(t *testing.T) {
	dir, first := twoPasses(t)
	text := strings.Replace(first, "SELECT", "-- name: first\nSELECT", 1) +
		";\n-- name: rest\nSELECT count(*) AS c FROM t WHERE s >= (SELECT min(s) FROM t WHERE n >= 5);\n" +
		"-- name: texts\nSELECT count(s) AS c FROM t WHERE n < $most;\n-- name: few\nSELECT 1 AS one FROM t LIMIT 3;\n-- name: plain\nSELECT " +
		"2 AS two"
	file, kept := filepath.Join(t.TempDir(), "questions.sql"), filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newTestCluster(t)
	k.write(topology.Variant{Settings: map[string]string{"limits.drain": "4s", "limits.client_timeout": "10m"}})
	k.must("up")
	args := func(more ...string) []string {
		return append([]string{file, "--data", dir, "--param", "most=5", "--json"}, more...)
	}
	want := parse(t, k.must("submit", args("--quiet")...).out)
	if len(want.Queries) != 5 {
		t.Fatalf("%d answers", len(want.Queries))
	}

	begun := regexp.MustCompile(`B[WR]*$`)
	sending := func(answers int) func() bool { // a session sends, after so many have answered
		return func() bool {
			all := recordsOf(kept)
			return strings.Count(all, "A") == answers && begun.MatchString(all) && k.sends(begunLast(kept))
		}
	}
	var p *clientProcess
	for i, at := range []struct {
		what  string
		chunk string // so small that a session takes many seconds: this process may stand still for some while the client runs
		there func() bool
		says  string
	}{
		{"it sends the first session", "2KiB", sending(0), ""},
		{"it has the first answers", "4KiB", func() bool { return strings.Count(recordsOf(kept), "A") >= 1 },
			"continues where its client has stopped"},
		{"it reads the beginning of a file, or is behind it", "2KiB", func() bool { // then the cluster has a session that nobody continues
			all, read := recordsOf(kept), strings.Contains(p.said.String(), " in "+kept+", and are not computed again")
			return read && (strings.Count(all, "A") > 1 || strings.Contains(strings.TrimLeft(all, "HBWR"), "B") && k.sends(begunLast(kept)))
		}, "and are not computed again"},
		{"it sends the last passes", "2KiB", sending(2), ""},
	} {
		flag := "--resume"
		if i == 0 {
			flag = "--journal"
		}
		p = k.begins(nil, args("--lanes", "1", "--chunk", at.chunk, flag, kept)...)
		p.reaches(at.what, at.there)
		p.kill()
		t.Logf("killed when %s: %s\n%s", at.what, recordsOf(kept), p.said.String())
		if !strings.Contains(p.said.String(), at.says) || i > 0 && i < 2 && strings.Contains(p.said.String(), "begun again") {
			t.Errorf("%s: it does not say %q:\n%s", at.what, at.says, p.said.String())
		}
	}
	p = k.begins(stuck(t), args("--resume", kept)...)
	p.reaches("it has all answers", func() bool { return strings.Count(recordsOf(kept), "A") == 3 })
	if said := p.said.String(); !strings.Contains(said, "the answers of 2 sessions are in") ||
		!strings.Contains(said, "continues where its client has stopped") {
		t.Errorf("standard error: %s", said)
	}
	if r := k.call("submit", args("--resume", kept)...); r.code != exit.InUse || !strings.Contains(r.err, "another process uses it") {
		t.Errorf("two clients resume at once: exit code %d, %s", r.code, r.err)
	}
	p.kill()
	k.refusesOthers(dir, file, kept, args)

	before, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	r := k.call("submit", args("--resume", kept)...)
	if r.code != exit.OK || !strings.Contains(r.err, "the answers of 3 sessions are in") || strings.Contains(r.err, "sent") {
		t.Fatalf("exit code %d, %s", r.code, r.err)
	}
	same := func(out string) {
		t.Helper()
		if got := parse(t, out); !reflect.DeepEqual(got.Queries, want.Queries) || !reflect.DeepEqual(got.Rejected, want.Rejected) {
			t.Errorf("the answers are %v, %v; want %v, %v", got.Queries, got.Rejected, want.Queries, want.Rejected)
		}
	}
	same(r.out)
	if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the journal is still there: %v", err)
	}
	// nodes are told one after the other
	await.Until(t, "no session is left at the cluster", func() bool { return len(k.listed()) == 0 })

	// Half of the journal is enough to continue, and a journal whose first record is damaged is begun again.
	for _, b := range [][]byte{before[:len(before)-1], append(bytes.Clone(before[:20]), before[21:]...)} {
		if err := os.WriteFile(kept, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r := k.call("submit", args("--resume", kept)...)
		if r.code != exit.OK || !strings.Contains(r.err, "is torn or damaged from byte") &&
			!strings.Contains(r.err, "has no answers yet") {
			t.Fatalf("exit code %d, %s", r.code, r.err)
		}
		same(r.out)
	}
}

// refusesOthers resumes with other words, another file and another cluster. Nothing changes the journal.
func (k *testCluster) refusesOthers(dir, file, kept string, args func(...string) []string) {
	k.t.Helper()
	before, err := os.ReadFile(kept)
	if err != nil {
		k.t.Fatal(err)
	}
	refused := func(k *testCluster, says string, args ...string) {
		k.t.Helper()
		if r := k.call("submit", args...); r.code != exit.Usage || !strings.Contains(r.err, says) || r.out != "" {
			k.t.Errorf("submit %s: exit code %d, %s%s", strings.Join(args, " "), r.code, r.err, r.out)
		}
		if now, err := os.ReadFile(kept); err != nil || !bytes.Equal(now, before) {
			k.t.Fatalf("submit %s: the journal was changed: %v", strings.Join(args, " "), err)
		}
	}
	refused(k, "exists already", args("--journal", kept)...)
	refused(k, "leave --journal out", args("--journal", kept, "--resume", kept)...)
	refused(k, "a session's id does not say", args("--resume", "6ba7b810-9dad-41d1-80b4-00c04fd430c8")...)
	refused(k, "there is no file", args("--resume", kept+"x")...)
	refused(k, "is not a journal", args("--resume", file)...)
	refused(k, "leave --journal and --resume out", args("--resume", kept, "--rejects", kept+".csv")...)
	refused(k, "--journal is for a file of statements", "bikes", "--data", dir, "--journal", kept)
	refused(k, `the parameters were most="5" and are most="6"`, append(args("--resume", kept), "--param", "most=6")...)
	refused(k, "the options were", args("--resume", kept, "--max-rejected", "7")...)
	other := filepath.Join(k.t.TempDir(), "other.sql")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(other, append(text, ' '), 0o600)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	refused(k, "the statements are others", append([]string{other}, args("--resume", kept)[1:]...)...)
	refused(k, "the data directory was", file, "--data", k.dir, "--param", "most=5", "--resume", kept)
	data := filepath.Join(dir, "t.csv.gz")
	info, err := os.Stat(data)
	if err == nil {
		err = os.Chtimes(data, time.Time{}, info.ModTime().Add(time.Second))
	}
	if err != nil {
		k.t.Fatal(err)
	}
	refused(k, data+" was changed or replaced", args("--resume", kept)...)
	if err := os.Chtimes(data, time.Time{}, info.ModTime()); err != nil {
		k.t.Fatal(err)
	}
	second := newTestCluster(k.t)
	second.must("up")
	refused(second, "its sessions were on", args("--resume", kept)...)
}

// TestR17_WhatAJournalCannotBeKeptOf: standard input, pipes and addresses cannot be read again. No journal is left.
func TestR17_WhatAJournalCannotBeKeptOf(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := table(t, "t.csv", "n\n1\n")
	file, kept := filepath.Join(dir, "q.sql"), filepath.Join(t.TempDir(), "kept")
	for text, says := range map[string]string{
		"SELECT n FROM '-'": "can be read once; write it to a file",
		"SELECT n FROM t, ": "posta: line 1",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "submit", "-f", k.file, file, "--data", dir, "--journal", kept)
		cmd.Stdin = strings.NewReader("n\n1\n")
		out, err := cmd.CombinedOutput()
		if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) || ended.ExitCode() != exit.Usage || !strings.Contains(string(out), says) {
			t.Errorf("%s: %v, %s", text, err, out)
		}
		if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is a journal: %v", text, err)
		}
	}
	if err := os.WriteFile(file, []byte("SELECT n FROM t"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := k.call("submit", file, "--data", dir, "--journal", filepath.Join(dir, "t.csv")); r.code != exit.Usage ||
		!strings.Contains(r.err, "would be lost") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	for _, place := range []string{filepath.Join(dir, "none", "kept"), dir} {
		if r := k.call("submit", file, "--data", dir, "--journal", place); r.code != exit.Usage {
			t.Errorf("--journal %s: exit code %d, %s", place, r.code, r.err)
		}
	}
}

// TestR17_TheDayOfACommand: a command that is resumed on another day has the current_date of the day on which it began.
func TestR17_TheDayOfACommand(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := t.TempDir()
	file, kept, older := filepath.Join(dir, "q.sql"), filepath.Join(dir, "kept"), filepath.Join(dir, "older")
	if err := os.WriteFile(file, []byte("-- name: day\nSELECT current_date AS d"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := k.begins(stuck(t), file, "--data", dir, "--json", "--journal", kept)
	p.reaches("it has begun", func() bool { return recordsOf(kept) == "H" })
	p.kill()
	j, err := journal.Open(kept)
	if err != nil {
		t.Fatal(err)
	}
	h := *j.Header()
	h.Began = time.Date(2001, 2, 3, 23, 59, 0, 0, time.UTC)
	past, err := journal.Create(older)
	if err == nil {
		err = errors.Join(past.Head(h), past.Close(), j.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(parse(t, k.must("submit", file, "--data", dir, "--json", "--resume",
		older).out).Queries["day"].Rows); got != "[[2001-02-03]]" {
		t.Errorf("current_date is %s", got)
	}
}

// TestR17_AStatementThatFailsIsNotResumed: a journal goes with the command that has said all it has to say, and a command that was
// interrupted shows how to continue.
func TestR17_AStatementThatFailsIsNotResumed(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := table(t, "t.csv", "n\n1\n2\n")
	if err := os.WriteFile(filepath.Join(dir, "u.csv"), []byte("n\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, kept := filepath.Join(dir, "q.sql"), filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(file, []byte(
		"-- name: over\nSELECT max(n + 9223372036854775806) AS m FROM t;\n-- name: fine\nSELECT sum(n) AS n FROM u"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := k.call("submit", file, "--data", dir, "--json", "--journal", kept)
	if got := fmt.Sprint(parse(t, r.out).Queries["fine"].Rows); r.code != exit.Session || got != "[[3]]" {
		t.Errorf("exit code %d, %s\n%s", r.code, got, r.err)
	}
	if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a journal: %v", err)
	}

	p := k.begins(stuck(t), file, "--data", dir, "--json", "--journal", kept)
	p.reaches("it prints", func() bool { return strings.HasSuffix(recordsOf(kept), "A") && strings.Contains(recordsOf(kept), "F") })
	p.kill()
	again := k.call("submit", file, "--data", dir, "--json", "--resume", kept)
	if got := fmt.Sprint(parse(t, again.out).Queries["fine"].Rows); again.code != exit.Session || got != "[[3]]" ||
		!strings.Contains(again.err, "over: ") || strings.Contains(again.err, "sent") {
		t.Errorf("resumed: exit code %d, %s\n%s", again.code, got, again.err)
	}

	k.must("down")
	r = k.call("submit", file, "--data", dir, "--journal", kept, "--patience", "1s")
	if _, err := os.Stat(kept); r.code != exit.NoCluster || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a cluster: exit code %d, %v", r.code, err)
	}
}
