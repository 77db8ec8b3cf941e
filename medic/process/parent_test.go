package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"posta.dev/posta/test/await"
)

// A parent that is killed with -9 has no chance to stop its children.
func TestChildrenGoWithTheirParentOrStay(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux ties children to their parents; here it is checked that detached ones stay")
	}
	for _, mode := range []string{"tied", "detached"} {
		if mode == "tied" && runtime.GOOS != "linux" {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(os.Args[0], dir, mode)
			cmd.Env = append(os.Environ(), roleVar+"=parent")
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 100)
			if n, err := out.Read(buf); string(buf[:n]) != "started\n" {
				t.Fatalf("the parent says %q, %v", buf[:n], err)
			}
			r := children(t, dir, "polite")
			pid, err := r.Pid("a-1")
			if err != nil || pid == 0 {
				t.Fatalf("the child is %d, %v", pid, err)
			}
			if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			if mode == "tied" {
				await.Until(t, "the child goes with its parent", func() bool {
					alive, err := r.Alive(await.Soon(t), "a-1")
					return !alive && err == nil
				})
				return
			}
			if _, err := os.Stat(filepath.Join(dir, "pids", "a-1")); err != nil {
				t.Fatal(err)
			}
			if now, err := r.Pid("a-1"); now != pid || err != nil {
				t.Fatalf("the detached child was %d, and is %d, %v", pid, now, err)
			}
		})
	}
}
