package rack

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Host is a machine of a rack.
type Host struct {
	Name    string // "a"
	Address string
	Socket  string // of its engine, as seen from outside

	ns, dir string
	systemd bool
	leg     leg
	init    *os.Process
	gone    chan struct{} // closed when init is
}

// Engine is what DOCKER_HOST is for it.
func (h *Host) Engine() string { return "unix://" + h.Socket }

// Docker runs a docker command against the host's engine.
func (h *Host) Docker(args ...string) (string, error) {
	return h.command(exec.Command("docker", args...))
}

// Both is like Docker, with what is said on standard error: logs.
func (h *Host) Both(args ...string) (string, error) {
	out, err := exec.Command("docker", append([]string{"-H", h.Engine()}, args...)...).CombinedOutput()
	return string(out), err
}

// Compose runs whichever compose there is against the host's engine, in a directory.
func (h *Host) Compose(dir string, args ...string) (string, error) {
	program := []string{"docker", "compose"}
	if exec.Command("docker", "compose", "version").Run() != nil {
		program = []string{"docker-compose"}
	}
	cmd := exec.Command(program[0], append(program[1:], args...)...)
	cmd.Dir = dir
	return h.command(cmd)
}

func (h *Host) command(cmd *exec.Cmd) (string, error) {
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+h.Engine())
	out, err := cmd.Output()
	text := strings.TrimSpace(string(out))
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("host %s: %s: %w: %s", h.Name, strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return text, err
}

// Inside is a command that runs in the host's network, and sees the machine's files.
func (h *Host) Inside(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--net=" + netnsFile(h.ns), "--"}, args...)...)
}

// Exec runs a command as on the host itself: with its processes, its network, and, where it has systemd, its files.
func (h *Host) Exec(args ...string) (string, error) { return h.command(h.inside(args...)) }

func (h *Host) inside(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"-t", strconv.Itoa(h.init.Pid), "-m", "-p", "-n", "-u", "-i", "--root", "--wd=/", "--"},
		args...)...)
}

// Copy brings files below a directory here into one on a host with systemd.
func (h *Host) Copy(from string, names []string, to string) error {
	pack, unpack := exec.Command("tar", append([]string{"-C", from, "-c"}, names...)...), h.inside("tar", "-x", "-C", to, "--no-same-owner")
	if err := pipe(pack, unpack); err != nil {
		return fmt.Errorf("copy to host %s: %w", h.Name, err)
	}
	return nil
}

// pipe runs two commands, one into the other.
func pipe(out, in *exec.Cmd) (err error) {
	if in.Stdin, err = out.StdoutPipe(); err != nil {
		return err
	}
	if err := out.Start(); err != nil {
		return err
	}
	said, err := in.CombinedOutput()
	if end := out.Wait(); err == nil {
		err = end
	}
	if err != nil {
		return fmt.Errorf("%s | %s: %w: %s", strings.Join(out.Args, " "), strings.Join(in.Args, " "), err, said)
	}
	return nil
}

// Do calls f in the host's network: what it dials, listens on and opens is there. The thread it has is not used again.
func (h *Host) Do(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- func() error {
			fd, err := unix.Open(netnsFile(h.ns), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err == nil {
				defer func() { _ = unix.Close(fd) }()
				err = unix.Setns(fd, unix.CLONE_NEWNET)
			}
			if err != nil {
				return fmt.Errorf("go into the network of host %s: %w", h.Name, err)
			}
			return f()
		}()
	}()
	return <-done
}

// Load gives the host an image that another one has.
func (h *Host) Load(from *Host, image string) error {
	err := pipe(exec.Command("docker", "-H", from.Engine(), "save", image), exec.Command("docker", "-H", h.Engine(), "load", "-q"))
	if err != nil {
		return fmt.Errorf("load an image of host %s into host %s: %w", from.Name, h.Name, err)
	}
	return nil
}

// Kill ends everything on the host at once: engine, containers, all of it.
func (h *Host) Kill() error {
	if h.init == nil {
		return nil
	}
	if err := h.init.Kill(); err != nil {
		return fmt.Errorf("kill host %s: %w", h.Name, err)
	}
	select {
	case <-h.gone:
	case <-time.After(30 * time.Second):
		return fmt.Errorf("kill host %s: process %d does not go", h.Name, h.init.Pid)
	}
	h.init = nil
	return nil
}

// Start starts the host with the disk it had, and returns when its engine answers. The machine has been off, so its firewall and bridges
// are gone.
func (h *Host) Start() error {
	if h.init != nil {
		return fmt.Errorf("start host %s: it runs", h.Name)
	}
	if err := h.resetNetwork(); err != nil {
		return err
	}
	return h.startInit()
}

// resetNetwork leaves the leg and takes the rest: a network namespace outlives the processes in it, and a machine's does not.
func (h *Host) resetNetwork() error {
	links, err := output("ip", "-n", h.ns, "-br", "link", "show", "type", "bridge")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(links, "\n") {
		if f := strings.Fields(line); len(f) > 0 {
			if err := run("ip", "-n", h.ns, "link", "del", f[0]); err != nil {
				return err
			}
		}
	}
	for _, table := range []string{"filter", "nat"} {
		for _, what := range []string{"-F", "-X"} {
			if out, err := h.Inside("iptables", "-t", table, what).CombinedOutput(); err != nil {
				return fmt.Errorf("reset the firewall of host %s: %w: %s", h.Name, err, out)
			}
		}
	}
	return nil
}

// Unplug takes the host off the network, its own processes reach each other. Plug ends that.
func (h *Host) Unplug() error { return h.leg.set(false) }

// Plug is the end of Unplug.
func (h *Host) Plug() error { return h.leg.set(true) }

// Impair has each frame from and to the host take some time, and some of them get lost. Zeros end it.
func (h *Host) Impair(i Impairment) error { return h.leg.impair(i) }

// remove removes all there is of a host. The engine is dead; its mounts went with its namespace.
func (h *Host) remove() error {
	return removeHost(h.ns, h.dir)
}

func removeHost(ns, dir string) error {
	removeCgroups(ns)
	err := os.RemoveAll(dir)
	if _, e := os.Stat(netnsFile(ns)); e == nil {
		if e := run("ip", "netns", "del", ns); err == nil {
			err = e
		}
	}
	return err
}

// removeCgroups removes the groups of containers that were killed without anybody to clear up after them. They are empty directories: what
// is not empty stays, and shows.
func removeCgroups(name string) {
	for _, pattern := range []string{"/sys/fs/cgroup/" + name, "/sys/fs/cgroup/*/" + name} {
		tops, _ := filepath.Glob(pattern)
		for _, top := range tops {
			var dirs []string
			_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() {
					dirs = append(dirs, path)
				}
				return nil
			})
			for _, dir := range slices.Backward(dirs) {
				_ = os.Remove(dir)
			}
		}
	}
}
