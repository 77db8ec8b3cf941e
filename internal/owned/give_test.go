package owned

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nodeUser = 65532 // has no name on most machines

// TestS1_GivenToAUser: everything in a directory belongs to the user afterwards, but nothing to which links in it lead.
func TestS1_GivenToAUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root gives files away; make test-docker covers it in containers")
		return
	}
	above := t.TempDir()
	dir, outside := filepath.Join(above, "volume"), filepath.Join(above, "outside")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "log"), 0o700), os.WriteFile(filepath.Join(dir, "log", "000"), nil, 0o600),
		os.WriteFile(outside, nil, 0o600), os.Symlink(outside, filepath.Join(dir, "link")), os.Symlink("..", filepath.Join(dir, "up")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // the second time there is nothing to do
		if err := Give(dir, nodeUser, nodeUser); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]uint32{"volume": nodeUser, "volume/log": nodeUser, "volume/log/000": nodeUser, "volume/link": nodeUser,
		"volume/up": nodeUser, "outside": 0, ".": 0} {
		info, err := os.Lstat(filepath.Join(above, name))
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != want || s.Gid != want {
			t.Errorf("%s belongs to %d:%d", name, s.Uid, s.Gid)
		}
	}
	if err := ActFor(outside); err != nil || os.Geteuid() != 0 {
		t.Errorf("root does not stay root for what is root's: user %d, %v", os.Geteuid(), err)
	}
	// In a process of its own, because there is no way back.
	cmd := exec.Command(os.Args[0], "-test.run", "^TestS1_ActsForTheOwner$")
	cmd.Env = append(os.Environ(), "ACT_FOR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestS1_ActsForTheOwner is the process of TestS1_GivenToAUser.
func TestS1_ActsForTheOwner(t *testing.T) {
	dir := os.Getenv("ACT_FOR")
	if dir == "" {
		return
	}
	if err := ActFor(dir); err != nil || os.Geteuid() != nodeUser || os.Getegid() != nodeUser {
		t.Fatalf("user %d, group %d, %v", os.Geteuid(), os.Getegid(), err)
	}
	if groups, err := os.Getgroups(); err != nil || len(groups) > 0 {
		t.Errorf("groups %v, %v", groups, err)
	}
}

// TestS1_WhoseDirectoryItIs: where this user may not even enter, the error still names whose it is.
func TestS1_WhoseDirectoryItIs(t *testing.T) {
	if os.Getenv("WHOSE") != "" {
		err := Dir(os.Getenv("WHOSE"))
		if err == nil || !strings.Contains(err.Error(), "belongs to user 0 and this is user 65532") {
			t.Error(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Log("only root becomes another user")
		return
	}
	above, err := os.MkdirTemp("/tmp", "owned") // others may pass through it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(above) }()
	dir, program := filepath.Join(above, "d"), filepath.Join(above, "test")
	text, err := os.ReadFile(os.Args[0])
	for _, err := range []error{err, os.Chmod(above, 0o755), os.Mkdir(dir, 0o700), os.WriteFile(program, text, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-test.run", "^TestS1_WhoseDirectoryItIs$")
	cmd.Dir, cmd.Env = "/", append(os.Environ(), "WHOSE="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nodeUser, Gid: nodeUser}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
