package zmqx

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stranger is a user that owns no file here.
const stranger = 54321

// asStranger is set in the process that plays another user in a test: "dial PATH" or "listen PATH".
const asStranger = "ZMQX_TEST_AS_STRANGER"

// strangersPart prints ready when its socket exists, and at the end what it has read.
func strangersPart(do string) {
	what, path, _ := strings.Cut(do, " ")
	conn, err := func() (net.Conn, error) {
		if what == "dial" {
			return net.Dial("unix", path)
		}
		l, err := net.Listen("unix", path)
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(path, 0o777); err != nil {
			return nil, err
		}
		fmt.Println("ready")
		return l.Accept()
	}()
	if err != nil {
		fmt.Println(err)
		return
	}
	heard, err := io.ReadAll(conn)
	fmt.Println("heard", len(heard), "bytes", err)
}

// startAsStranger runs strangersPart as another user, and returns what it prints.
func startAsStranger(t *testing.T, dir, do string) *bufio.Scanner {
	t.Helper()
	self := filepath.Join(dir, "self") // the test's own file is in a directory that is closed to others
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		program, err = os.ReadFile(must[string](t)(os.Executable()))
	}
	noError(t, err)
	noError(t, os.WriteFile(self, program, 0o755))
	c := exec.Command(self)
	c.Dir, c.Env = "/", append(os.Environ(), asStranger+"="+do)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	out, err := c.StdoutPipe()
	noError(t, err)
	c.Stderr = os.Stderr
	noError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return bufio.NewScanner(out)
}

func nextLine(t *testing.T, s *bufio.Scanner) string {
	t.Helper()
	if !s.Scan() {
		t.Fatalf("the other user's process said nothing: %v", s.Err())
	}
	return s.Text()
}

// openDir makes a directory with a short name that everybody may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "zmqx")
	noError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	noError(t, os.Chmod(dir, 0o777))
	return dir
}

// TestS1_UnixSocketsAreForOneUser: another user of this machine can neither connect nor pretend to be the listener. Only root can start a
// process as another user, as in CI. Any user can see which user is at the other end.
func TestS1_UnixSocketsAreForOneUser(t *testing.T) {
	us := os.Geteuid()
	path := filepath.Join(openDir(t), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	noError(t, err)
	defer l.Close()
	dialled, err := net.Dial("unix", path)
	noError(t, err)
	defer dialled.Close()
	accepted, err := l.AcceptUnix()
	noError(t, err)
	defer accepted.Close()
	for _, c := range []net.Conn{dialled, accepted} {
		if uid, err := ownerOf(c.(*net.UnixConn)); err != nil || uid != us {
			t.Errorf("%d, %v; we are %d", uid, err, us)
		}
		noError(t, CheckOwner(c))
	}
	if us != 0 {
		return
	}
	t.Run("who connects", func(t *testing.T) {
		dir := openDir(t)
		said := newLogs()
		pull, _ := newPull(t, Options{Logger: said.logger()}, "ipc://"+filepath.Join(dir, "s"))
		noError(t, os.Chmod(filepath.Join(dir, "s"), 0o777)) // the file mode is the first protection, and this test is about the second one
		if heard := nextLine(t, startAsStranger(t, dir, "dial "+filepath.Join(dir, "s"))); !strings.HasPrefix(heard, "heard 0 bytes") {
			t.Error(heard)
		}
		if cause := said.await(t); !errors.Is(cause, ErrRefused) || !strings.Contains(cause.Error(), fmt.Sprint("the id ", stranger)) {
			t.Errorf("%v", cause)
		}
		if pull.connects() != 0 {
			t.Error("it was admitted")
		}
	})
	t.Run("who listens", func(t *testing.T) {
		dir := openDir(t)
		out := startAsStranger(t, dir, "listen "+filepath.Join(dir, "s"))
		if ready := nextLine(t, out); ready != "ready" {
			t.Fatal(ready)
		}
		told := newEvents()
		push := newPush(t, Options{OnEvent: told.take}, "ipc://"+filepath.Join(dir, "s"))
		if e := told.await(t, Unreachable); !errors.Is(e.Err, ErrRefused) || !strings.Contains(e.Err.Error(), fmt.Sprint("the id ", stranger)) {
			t.Errorf("%v", e.Err)
		}
		if heard := nextLine(t, out); !strings.HasPrefix(heard, "heard 0 bytes") {
			t.Error(heard)
		}
		if push.connects() != 0 {
			t.Error("it was admitted")
		}
	})
}

// TestS1_WhoMayBeAtTheOtherEnd: the process's own user and root.
func TestS1_WhoMayBeAtTheOtherEnd(t *testing.T) {
	for _, c := range []struct {
		uid, us int
		may     bool
	}{{0, 0, true}, {1000, 1000, true}, {0, 1000, true}, {1000, 0, false}, {1001, 1000, false}, {65534, 1000, false}} {
		if mayConnect(c.uid, c.us) != c.may {
			t.Errorf("%d at a socket of %d: not %v", c.uid, c.us, c.may)
		}
	}
}

// TestS1_ASocketFileIsPrivate: this holds for any umask.
func TestS1_ASocketFileIsPrivate(t *testing.T) {
	endpoint := ipcEndpoint(t)
	_, _ = newPull(t, Options{}, endpoint)
	info, err := os.Lstat(strings.TrimPrefix(endpoint, "ipc://"))
	noError(t, err)
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the socket has the mode %04o", mode)
	}
}
