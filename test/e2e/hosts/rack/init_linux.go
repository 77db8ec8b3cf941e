package rack

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// initSpec is what the first process of a host has to know.
type initSpec struct {
	Name    string // comes first: killOrphans looks for it. Also of its cgroups
	Dir     string // the host's disk
	Socket  string // where the engine is to be reached from outside
	Systemd bool   // in place of the engine
}

// runInit is the first process of a host: it makes the mounts that are the host's own and starts what the host is for. The host ends with
// it.
func runInit(text string) error {
	var s initSpec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	if err := os.Unsetenv(initVar); err != nil {
		return err
	}
	if s.Systemd {
		return runSystemd(s)
	}
	return runEngine(s)
}

// runEngine starts the engine and buries orphans.
func runEngine(s initSpec) error {
	if err := ownMounts(s.Dir); err != nil {
		return err
	}
	// Socket, pid file and exec root of the engine, and all that its containerd has, are where they always are: in the host's /run.
	cmd := exec.Command("dockerd", "--data-root", filepath.Join(s.Dir, "docker"),
		"--exec-opt", "native.cgroupdriver=cgroupfs", "--cgroup-parent", "/"+s.Name,
		"-H", "unix:///run/docker.sock", "-H", "unix://"+s.Socket)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case pid == cmd.Process.Pid:
			return fmt.Errorf("dockerd has ended: %v", status)
		}
	}
}

// ownMounts gives the host what a machine has to itself: what is in /run is gone after each start, and the settings and the identity of the
// engine are not those of this machine's.
func ownMounts(dir string) error {
	etc := filepath.Join(dir, "etc")
	if err := errors.Join(os.MkdirAll(etc, 0o755), os.MkdirAll("/etc/docker", 0o755)); err != nil {
		return err
	}
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
		data                 string
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{"proc", "/proc", "proc", 0, ""},
		{"tmpfs", "/run", "tmpfs", 0, "mode=755"},
		{etc, "/etc/docker", "", unix.MS_BIND, ""},
	} {
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
			return fmt.Errorf("mount %s of a host: %w", m.target, err)
		}
	}
	return nil
}

// startInit starts the host and waits until it works.
func (h *Host) startInit() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	spec, err := json.Marshal(initSpec{Name: h.ns, Dir: h.dir, Socket: h.Socket, Systemd: h.systemd})
	if err != nil {
		return err
	}
	if err := os.Remove(h.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	log, err := os.OpenFile(h.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	// nsenter goes into the network and becomes the program without a fork, so it is the first process that the new namespaces have.
	cmd := exec.Command("nsenter", "--net="+netnsFile(h.ns), "--", exe)
	cmd.Env = append(os.Environ(), initVar+"="+string(spec))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &unix.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC, Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	h.init, h.gone = cmd.Process, make(chan struct{})
	go func(gone chan struct{}) {
		_ = cmd.Wait() // it is killed
		close(gone)
	}(h.gone)
	return h.ready()
}

// ready waits until the engine answers, or systemd has nothing left to start.
func (h *Host) ready() error {
	works := func() error { _, err := h.Docker("version", "--format", "{{.Server.Version}}"); return err }
	if h.systemd {
		works = h.booted
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := works()
		if err == nil {
			return nil
		}
		select {
		case <-h.gone:
			return fmt.Errorf("host %s does not start: %s", h.Name, h.lastWords())
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("host %s does not work: %w: %s", h.Name, err, h.lastWords())
		}
	}
}

func (h *Host) lastWords() string {
	b, err := os.ReadFile(h.logFile())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

func (h *Host) logFile() string { return filepath.Join(h.dir, "host.log") }
