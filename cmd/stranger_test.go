package cmd

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
)

// The test binary also runs as another account of the same machine, which has only ZeroMQ and msgpack.
const strangerVar = "POSTA_TEST_STRANGER"

const strangerID = 65534

// attempt is one attack of a stranger.
type attempt struct {
	Name string // shown to people
	Do   string // connect, listen, read, link, move or remove
	Path string
	Say  []byte // connect: the bytes that are sent to the listening process
}

// outcome is the result of an attempt.
type outcome struct {
	Error  string
	Answer []byte
}

// strangerMain is the main function of the stranger's process: it reads attempts, and writes outcomes.
func strangerMain() int {
	var todo []attempt
	var done []outcome
	if err := json.NewDecoder(os.Stdin).Decode(&todo); err != nil {
		return 1
	}
	for _, a := range todo {
		o := outcome{}
		answer, err := a.carryOut()
		if o.Answer = answer; err != nil {
			o.Error = err.Error()
		}
		done = append(done, o)
	}
	if err := json.NewEncoder(os.Stdout).Encode(done); err != nil {
		return 1
	}
	return 0
}

func (a *attempt) carryOut() ([]byte, error) {
	switch a.Do {
	case "connect":
		return a.connect()
	case "listen":
		l, err := net.Listen("unix", a.Path)
		if err == nil {
			err = l.Close()
		}
		return nil, err
	case "read":
		return os.ReadFile(a.Path)
	case "link":
		return nil, os.Symlink("/etc/passwd", a.Path)
	case "move":
		return nil, os.Rename(a.Path, a.Path+"-moved")
	case "remove":
		return nil, os.Remove(a.Path)
	}
	return nil, errors.New("no such thing to do")
}

// connect sends all bytes at once, and reads the answer until the other side closes the connection, has said enough, or has long been
// silent.
func (a *attempt) connect() ([]byte, error) {
	conn, err := net.Dial("unix", a.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = conn.Write(a.Say) // the other side may have closed it already
	answer, _ := io.ReadAll(io.LimitReader(conn, 64))
	return answer, nil
}

// stranger is the program running as another account.
type stranger struct {
	t    *testing.T
	file string
}

// newStranger returns nil unless this process runs as root, which alone can change to another account. CI runs as root.
func newStranger(t *testing.T) *stranger {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	dir := temp.Sockets(t)
	program, err := os.ReadFile(os.Args[0])
	s := &stranger{t, filepath.Join(dir, "stranger")}
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(s.file, program, 0o755), os.Chmod(s.file, 0o755)); err != nil {
		t.Fatal(err)
	}
	return s
}

// try carries out attempts as the other account, or as this one.
func (s *stranger) try(uid uint32, todo []attempt) []outcome {
	s.t.Helper()
	in, err := json.Marshal(todo)
	if err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(s.file)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = "/", []string{strangerVar + "=1"}, bytes.NewReader(in), &out, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("the stranger's process: %v", err)
	}
	var done []outcome
	if err := json.Unmarshal(out.Bytes(), &done); err != nil || len(done) != len(todo) {
		s.t.Fatalf("%d outcomes of %d attempts, %v", len(done), len(todo), err)
	}
	return done
}

// isRefused carries out attempts as the stranger, and the system has to refuse each.
func (s *stranger) isRefused(todo []attempt) {
	s.t.Helper()
	if len(todo) == 0 {
		s.t.Fatal("there is nothing to try")
	}
	for i, o := range s.try(strangerID, todo) {
		if !strings.Contains(o.Error, syscall.EACCES.Error()) && !strings.Contains(o.Error, syscall.EPERM.Error()) {
			s.t.Errorf("%s: another account may %s %s: %q, answered %d bytes", todo[i].Name, todo[i].Do, todo[i].Path, o.Error, len(o.Answer))
		}
	}
}

// zmtp returns the bytes that a ZeroMQ library sends on a connection: greeting, READY, and one message of these parts.
func zmtp(kind string, parts ...[]byte) []byte {
	b := make([]byte, 64)
	b[0], b[9], b[10] = 0xff, 0x7f, 3
	copy(b[12:], "NULL")
	ready := append([]byte("\x05READY\x0bSocket-Type"), 0, 0, 0, byte(len(kind)))
	ready = append(ready, kind...)
	b = append(append(b, 4, byte(len(ready))), ready...)
	for i, p := range parts {
		flags := byte(2) // a long frame
		if i < len(parts)-1 {
			flags |= 1
		}
		b = append(binary.BigEndian.AppendUint64(append(b, flags), uint64(len(p))), p...)
	}
	return b
}

// attacksOn returns the attempts on the sockets in a directory, against a session whose id the stranger knows.
func attacksOn(t *testing.T, dir string, id session.ID) (all []attempt) {
	t.Helper()
	ask := func(q protocol.Request) []byte {
		q.Session = id
		return zmtp("REQ", nil, q.Append(nil))
	}
	rows := protocol.Request{Type: protocol.Chunk, Stream: "trips", Seq: 1, File: "a.csv", Header: []byte("id\n"), Data: []byte("1\n2\n")}
	taken := rows
	taken.Seq, taken.Data = 3, nil
	frame := link.Frame{Edge: "parser-joiner", From: "input-1", Kind: link.Data, Seq: 1, ID: link.Identity{Incarnation: 1 << 40}}
	hello := frame
	hello.Kind, hello.Seq = link.Hello, 0
	attacks := map[string][]attempt{
		"input-1.client": {
			{Name: "rows added to a session", Say: ask(rows)},
			{Name: "numbers of chunks taken", Say: ask(taken)},
			{Name: "a session cancelled", Say: ask(protocol.Request{Type: protocol.Cancel, Force: true})},
		},
		"output-1.client": {
			{Name: "an answer read", Say: ask(protocol.Request{Type: protocol.Results})},
			{Name: "an answer deleted", Say: ask(protocol.Request{Type: protocol.Close, Force: true})},
		},
		"joiner-1.data": {
			{Name: "a forged frame", Say: zmtp("PUSH", frame.AppendHeader(nil), []byte("rows"))},
			{Name: "a hello that stops a link", Say: zmtp("PUSH", hello.AppendHeader(nil), link.HelloPayload{}.Encode())},
		},
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		all = append(all, attempt{Name: "a connection", Do: "connect", Path: path, Say: zmtp("SUB")})
		for _, a := range attacks[e.Name()] {
			a.Do, a.Path = "connect", path
			all = append(all, a)
		}
		delete(attacks, e.Name())
	}
	if len(attacks) > 0 {
		t.Fatalf("there are no sockets for %v in %v", attacks, entries)
	}
	return all
}

// replacing returns the attempts to take the place of a listening process of the cluster.
func replacing(dir string, names ...string) (all []attempt) {
	for _, name := range names {
		path := filepath.Join(dir, name)
		all = append(all,
			attempt{Name: "sitting where " + name + " listens", Do: "remove", Path: path},
			attempt{Name: "sitting where " + name + " listens", Do: "listen", Path: path},
			attempt{Name: "sitting beside " + name, Do: "listen", Path: path + "-2"})
	}
	return append(all, attempt{Name: "another directory of sockets", Do: "move", Path: dir})
}

// meddling returns the attempts on the files of a directory: to read each, and to replace it.
func meddling(t *testing.T, dir string) (all []attempt) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // segments and notes are made and removed meanwhile
		case err != nil:
			return err
		case d.IsDir():
			all = append(all, attempt{Name: "a link put into it", Do: "link", Path: filepath.Join(path, "planted")},
				attempt{Name: "another one in its place", Do: "move", Path: path})
		case d.Type().IsRegular():
			files++
			all = append(all, attempt{Name: "a file read", Do: "read", Path: path}, attempt{Name: "a file removed", Do: "remove", Path: path})
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files in %s, %v", files, dir, err)
	}
	return all
}

// listening returns the TCP sockets on which a process listens, on systems that report them.
func listening(t *testing.T, pid int) (at []string) {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return nil
	}
	sockets := map[string]bool{}
	for _, fd := range fds {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
		if inode, ok := strings.CutPrefix(to, "socket:["); err == nil && ok {
			sockets[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			const address, state, listens, inode = 1, 3, "0A", 9
			if f := strings.Fields(line); len(f) > inode && f[state] == listens && sockets[f[inode]] {
				at = append(at, f[address])
			}
		}
	}
	return at
}

// TestS1_AnotherAccountReachesNothing: with default settings, the system refuses every attempt of a second account to connect, listen, read
// or write while sessions run, and the answers stay right. Even if the directory of the sockets and the sockets are opened to everybody,
// nodes and medics answer no other account.
func TestS1_AnotherAccountReachesNothing(t *testing.T) {
	s := newStranger(t)
	if s == nil {
		return
	}
	k := newTestCluster(t)
	for _, dir := range []string{filepath.Dir(k.dir), k.dir} { // the parents are open, so the cluster's own directories must be what refuses
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	k.must("up")
	must(t, "key", "init", "-f", k.file)
	from := data(t, "5000")
	want := expected(t, from)
	text := strings.TrimSpace(k.must("submit", "bikes", "--data", from, "--detach").out)
	id, err := session.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	// The stranger is a process of its own, because the flag package has variables that two calls in one process would share.
	running := exec.Command(os.Args[0], append([]string{"submit", "bikes", "-f", k.file, "--data", from, "--json"}, slow...)...)
	var answer bytes.Buffer
	running.Stdout = &answer
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = running.Process.Kill() }()

	dir := k.sockets()
	attacks := attacksOn(t, dir, id)
	s.isRefused(attacks)
	s.isRefused(replacing(dir, "medic-1.control", "input-1.client", "joiner-1.data"))
	s.isRefused(meddling(t, filepath.Join(k.dir, "cluster")))
	s.isRefused(meddling(t, filepath.Join(k.dir, "keys")))
	pids, err := os.ReadDir(filepath.Join(k.dir, "cluster", "pids"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pids {
		if at := listening(t, k.pid(p.Name())); len(at) > 0 {
			t.Errorf("%s listens on TCP at %v", p.Name(), at)
		}
	}

	// The same attempts succeed for the cluster's own user, so no other reason made them fail.
	harmless := slices.DeleteFunc(slices.Clone(attacks), func(a attempt) bool { return a.Name != "a connection" })
	for i, o := range s.try(0, harmless) {
		if o.Error != "" || len(o.Answer) < 10 {
			t.Errorf("this user at %s: %s, answered %q", harmless[i].Path, o.Error, o.Answer)
		}
	}
	open := func(dirMode, mode os.FileMode) {
		t.Helper()
		for _, a := range harmless {
			if err := os.Chmod(a.Path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, dirMode); err != nil {
			t.Fatal(err)
		}
	}
	open(0o755, 0o777)
	for i, o := range s.try(strangerID, attacks) {
		if o.Error != "" || len(o.Answer) > 0 {
			t.Errorf("%s at %s, where anybody may connect: %q, answered %q", attacks[i].Name, attacks[i].Path, o.Error, o.Answer)
		}
	}
	open(0o700, 0o600)

	if err := running.Wait(); err != nil {
		t.Errorf("the session that ran meanwhile: %v", err)
	}
	same(t, parse(t, answer.String()), want)
	same(t, parse(t, k.must("results", text, "--json").out), want)
}

// TestS1_AnotherAccountReachesNothingOfARun: the same for posta run, whose directory is among the temporary files of all users.
func TestS1_AnotherAccountReachesNothingOfARun(t *testing.T) {
	s := newStranger(t)
	if s == nil {
		return
	}
	tmp := temp.Sockets(t)
	if err := os.Chmod(tmp, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	from := data(t, "20000")
	want := expected(t, from)
	release := held(t, filepath.Join(from, "montreal", "trips.csv")) // the run does not end before this
	run := exec.Command(os.Args[0], "run", "bikes", "--data", from, "--json", "--replicas", "joiner=2")
	var answer bytes.Buffer
	run.Env, run.Stdout = append(os.Environ(), "TMPDIR="+tmp), &answer
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = run.Process.Kill() }()
	var dir string
	await.Until(t, "all nodes of the run listen", func() bool {
		found, _ := filepath.Glob(filepath.Join(tmp, "posta-run-*", "sock", "output-1.client"))
		if len(found) > 0 {
			dir = filepath.Dir(filepath.Dir(found[0]))
		}
		return dir != "" && exists(filepath.Join(dir, "sock", "input-1.client")) && exists(filepath.Join(dir, "sock", "joiner-1.data"))
	})
	s.isRefused(attacksOn(t, filepath.Join(dir, "sock"), session.New()))
	s.isRefused(replacing(filepath.Join(dir, "sock"), "input-1.client", "joiner-1.data"))
	s.isRefused(meddling(t, dir))
	if at := listening(t, pidOf(dir, "output-1")); len(at) > 0 {
		t.Errorf("a node listens on TCP at %v", at)
	}
	release()
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	same(t, parse(t, answer.String()), want)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
