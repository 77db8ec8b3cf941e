package rack

import (
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sweep removes what tests that were killed have left behind: hosts that still run, namespaces, disks, cgroups. A name tells the process
// that made it; what a living one has made stays.
func sweep() {
	killOrphans()
	for _, pattern := range []string{"/run/netns/" + prefix + "*", filepath.Join(base, prefix+"*")} {
		found, _ := filepath.Glob(pattern)
		for _, file := range found {
			name := filepath.Base(file)
			if !orphan(name) {
				continue
			}
			log.Printf("%s was left behind by an earlier run", file)
			ns, dir := name, file
			if filepath.Dir(file) != base {
				dir = ""
			}
			if err := removeLeft(ns, dir); err != nil {
				log.Print(err)
			}
		}
	}
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/" + prefix + "*")
	unified, _ := filepath.Glob("/sys/fs/cgroup/" + prefix + "*")
	for _, g := range append(groups, unified...) {
		if name := filepath.Base(g); orphan(name) {
			removeCgroups(name)
		}
	}
}

func removeLeft(ns, dir string) error {
	if dir != "" {
		return os.RemoveAll(dir)
	}
	return run("ip", "netns", "del", ns)
}

// killOrphans kills the first processes of hosts whose test is gone. They are known by their environment, which nobody else has.
func killOrphans() {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	killed := false
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(env), initVar+"=") {
			continue
		}
		for _, v := range strings.Split(string(env), "\x00") {
			spec, ok := strings.CutPrefix(v, initVar+`={"Name":"`)
			name, _, _ := strings.Cut(spec, `"`)
			if !ok || !orphan(name) {
				continue
			}
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			log.Printf("host %s, process %d, was left behind by an earlier run", name, pid)
			killed = syscall.Kill(pid, syscall.SIGKILL) == nil || killed
		}
	}
	if killed {
		time.Sleep(time.Second) // its mounts go after it
	}
}

// orphan reports whether the process that made something is gone.
func orphan(name string) bool {
	rest, ours := strings.CutPrefix(name, prefix)
	number, _, _ := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(number)
	return ours && err == nil && syscall.Kill(pid, 0) == syscall.ESRCH
}
