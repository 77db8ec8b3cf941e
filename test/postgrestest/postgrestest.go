// Package postgrestest runs a PostgreSQL server for tests, on a unix socket of its own.
package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Password is that of the user "posta", whom a server demands it from.
const Password = "s3cr3t/ä+x"

// Server is a server of one test.
type Server struct {
	dir  string
	bin  string
	as   *syscall.Credential // whom it runs as; nil for this user
	main *exec.Cmd
}

// Start makes a database and starts a server, which ends with the test. There has to be one: Debian's package is postgresql.
func Start(t *testing.T) *Server {
	t.Helper()
	s := &Server{bin: binaries(t)}
	var err error
	if s.dir, err = os.MkdirTemp("/tmp", "pg"); err != nil { // short, for the socket's path, and open to another user
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if err := os.RemoveAll(s.dir); err != nil {
			t.Error(err)
		}
	})
	if os.Geteuid() == 0 { // a server refuses to run as root
		s.as = nobody(t)
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(s.dir, "secret")
	if err := os.WriteFile(secret, []byte(Password+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := s.command("initdb", "-D", s.data(), "-U", "posta", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--locale=C",
		"-N").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, said)
	}
	s.Run(t)
	return s
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Run starts the server, also one that was killed: for as long as a process of the former one lives, which ends by itself when it sees that
// its parent is gone, a new one refuses to start and is started again.
func (s *Server) Run(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if s.main == nil {
			s.main = s.command("postgres", "-D", s.data(), "-k", s.dir, "-h", "", "-F")
			s.main.Stdout, s.main.Stderr = log, log
			if err := s.main.Start(); err != nil {
				t.Fatal(err)
			}
		}
		if s.command("pg_isready", "-q", "-h", s.dir, "-U", "posta", "-d", "postgres").Run() == nil {
			return
		}
		if time.Now().After(end) {
			said, _ := os.ReadFile(log.Name())
			t.Fatalf("the server does not come up: %s", said)
		}
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(s.main.Process.Pid, &status, syscall.WNOHANG, nil); err == nil && pid > 0 {
			_ = s.main.Process.Release()
			s.main = nil
		}
	}
}

// Kill ends the server and all its processes with SIGKILL.
func (s *Server) Kill() {
	if s.main == nil {
		return
	}
	_ = syscall.Kill(-s.main.Process.Pid, syscall.SIGKILL)
	_ = s.main.Wait()
	s.main = nil
}

// URL returns that of a table, without the password.
func (s *Server) URL(table string) string {
	return fmt.Sprintf("postgres://posta@/postgres/%s?host=%s", table, s.dir)
}

// command is one of PostgreSQL's, in a group of its own.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	c.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as}
	return c
}

// binaries finds the directory of a server's programs, which Debian keeps out of the path.
func binaries(t *testing.T) string {
	t.Helper()
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	found, err := exec.LookPath("initdb")
	if err != nil {
		t.Fatalf("no PostgreSQL server: %v; install Debian's package postgresql", err)
	}
	return filepath.Dir(found)
}

func nobody(t *testing.T) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(strings.TrimSpace(u.Uid), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(strings.TrimSpace(u.Gid), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
