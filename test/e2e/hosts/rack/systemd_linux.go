package rack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemdProgram is where all systems have it or a link to it.
const systemdProgram = "/lib/systemd/systemd"

// runSystemd becomes systemd, on files that are this machine's with the host's own layer above: what it changes is in the layer, which is
// the host's disk. It returns only if that fails.
func runSystemd(s initSpec) error {
	runtime.LockOSThread() // namespaces are a thread's, until exec makes it the only one
	defer runtime.UnlockOSThread()
	root, err := layers(s.Dir)
	if err != nil {
		return err
	}
	if err := ownCgroup(s, root); err != nil {
		return err
	}
	if err := onlyWhatIsInstalled(root); err != nil {
		return err
	}
	if err := enterRoot(root); err != nil {
		return err
	}
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "container=rack"}
	return syscall.Exec(systemdProgram, []string{systemdProgram, "--system", "--unit=multi-user.target", "--log-target=console",
		"--show-status=0"}, env)
}

// layers makes the host's root.
func layers(dir string) (root string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "", fmt.Errorf("leave the mounts of the machine: %w", err)
	}
	root, upper, work := filepath.Join(dir, "root"), filepath.Join(dir, "upper"), filepath.Join(dir, "work")
	for _, d := range []string{root, upper, work} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	mounts := []struct {
		source, target, kind string
		flags                uintptr
		data                 string
	}{
		{"overlay", "", "overlay", 0, "lowerdir=/,upperdir=" + upper + ",workdir=" + work},
		{"proc", "proc", "proc", 0, ""},
		{"sysfs", "sys", "sysfs", 0, ""},
		{"tmpfs", "run", "tmpfs", 0, "mode=755"},
		{"/dev", "dev", "", unix.MS_BIND | unix.MS_REC, ""},
		{"tmpfs", "tmp", "tmpfs", 0, "mode=1777"},
	}
	for _, m := range mounts {
		if err := unix.Mount(m.source, filepath.Join(root, m.target), m.kind, m.flags, m.data); err != nil {
			return "", fmt.Errorf("mount /%s of a host: %w", m.target, err)
		}
	}
	return root, nil
}

// ownCgroup goes into a cgroup of the host's, which is the root of all that the host sees. With the older version systemd's own hierarchy
// is enough.
func ownCgroup(s initSpec, root string) error {
	kind, data := "cgroup", "none,name=systemd"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		kind, data = "cgroup2", ""
	}
	all := filepath.Join(s.Dir, "cgroup")
	if err := os.MkdirAll(all, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("cgroup", all, kind, 0, data); err != nil {
		return fmt.Errorf("mount cgroups of a host: %w", err)
	}
	mine := filepath.Join(all, s.Name)
	if err := os.MkdirAll(mine, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(mine, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		return err
	}
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("have cgroups of its own: %w", err)
	}
	target := filepath.Join(root, "sys/fs/cgroup")
	if kind == "cgroup" {
		if err := unix.Mount("tmpfs", target, "tmpfs", 0, "mode=755"); err != nil {
			return err
		}
		if target = filepath.Join(target, "systemd"); os.Mkdir(target, 0o755) != nil {
			return fmt.Errorf("make %s", target)
		}
	}
	if err := unix.Mount("cgroup", target, kind, 0, data); err != nil {
		return fmt.Errorf("mount cgroups of a host: %w", err)
	}
	return unix.Unmount(all, unix.MNT_DETACH)
}

// onlyWhatIsInstalled takes away, once, what this machine would start: the host is a fresh one. Its journal it keeps.
func onlyWhatIsInstalled(root string) error {
	done := filepath.Join(root, "etc/rack")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	var errs []error
	for _, pattern := range []string{"etc/systemd/system/*", "lib/systemd/system/*.wants", "usr/local/lib/systemd", "etc/init.d"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, f := range found {
			errs = append(errs, os.RemoveAll(f))
		}
	}
	for unit, target := range map[string]string{"systemd-journald.service": "sysinit", "systemd-journald.socket": "sockets"} {
		wants := filepath.Join(root, "etc/systemd/system", target+".target.wants")
		errs = append(errs, os.MkdirAll(wants, 0o755), os.Symlink("/lib/systemd/system/"+unit, filepath.Join(wants, unit)))
	}
	return errors.Join(append(errs, os.WriteFile(done, nil, 0o644))...)
}

func enterRoot(root string) error {
	old := filepath.Join(root, "mnt")
	if err := unix.PivotRoot(root, old); err != nil {
		return fmt.Errorf("go into the files of a host: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return unix.Unmount("/mnt", unix.MNT_DETACH)
}

// booted is nil when all jobs of systemd are done. "degraded" is a unit that failed, which is the test's to judge.
func (h *Host) booted() error {
	state, err := h.Exec("systemctl", "is-system-running")
	if state == "running" || state == "degraded" {
		return nil
	}
	return fmt.Errorf("systemd is %q: %w", state, err)
}

// Failed returns the units that have failed.
func (h *Host) Failed() (units []string, err error) {
	out, err := h.Exec("systemctl", "list-units", "--failed", "--plain", "--no-legend")
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) > 0 {
			units = append(units, f[0])
		}
	}
	return units, err
}
