// Package cgroup reads how much memory the control groups of this process allow. Only Linux has them; elsewhere there is no limit.
//
//	bytes, alone := cgroup.Memory()
//
// A process that takes more is killed, or, for memory.high, slowed down until it stands still.
package cgroup

import (
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Memory returns the least limit of the process' control group and the groups around it, as it was when Memory was called first; 0: there
// is none. alone reports that no other process is in the group with that limit.
var Memory = sync.OnceValues(func() (limit int64, alone bool) { return least(os.ReadFile, os.Getpid()) })

// least computes what Memory returns. read reads a file of the system.
func least(read func(name string) ([]byte, error), pid int) (limit int64, alone bool) {
	groups, err := read("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	mounts, err := read("/proc/self/mountinfo")
	if err != nil {
		return 0, false
	}
	where := ""
	limit = math.MaxInt64
	for _, h := range hierarchies(string(mounts)) {
		dir, of := h.dir(string(groups))
		if !of {
			continue
		}
		for {
			for _, name := range h.limits() {
				if n, ok := number(read, path.Join(dir, name)); ok && n < limit {
					limit, where = n, dir
				}
			}
			if dir == h.at || len(dir) <= len(h.at) {
				break
			}
			dir = path.Dir(dir)
		}
	}
	if where == "" {
		return 0, false
	}
	processes, err := read(path.Join(where, "cgroup.procs"))
	return limit, err == nil && string(bytes.TrimSpace(processes)) == strconv.Itoa(pid)
}

// none is the least number that means no limit: version 1 says the largest number of whole pages.
const none = math.MaxInt64 / 2

// number reads a limit.
func number(read func(string) ([]byte, error), name string) (int64, bool) {
	b, err := read(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64) // not for "max"
	return n, err == nil && n < none
}

// hierarchy is a tree of groups that may limit memory.
type hierarchy struct {
	version1 bool
	root     string // which of its groups is mounted
	at       string // where
}

func (h *hierarchy) limits() []string {
	if h.version1 {
		return []string{"memory.limit_in_bytes"}
	}
	return []string{"memory.max", "memory.high"}
}

// hierarchies returns the mounted hierarchies, given the content of /proc/self/mountinfo.
func hierarchies(mounts string) (all []hierarchy) {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(kind) < 3 {
			continue
		}
		h := hierarchy{root: plain.Replace(f[3]), at: plain.Replace(f[4])}
		switch {
		case kind[0] == "cgroup" && has(kind[2], "memory"):
			h.version1 = true
		case kind[0] != "cgroup2":
			continue
		}
		all = append(all, h)
	}
	return all
}

// plain undoes the escapes of mountinfo.
var plain = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// dir returns the directory of the process' group, given the content of /proc/self/cgroup; false if the group is not in the hierarchy. A
// container may see the path of its group from outside, where nothing is mounted; then what is mounted is its group.
func (h *hierarchy) dir(groups string) (string, bool) {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) < 3 || h.version1 != has(f[1], "memory") || !h.version1 && f[1] != "" {
			continue
		}
		below, is := strings.CutPrefix(f[2]+"/", strings.TrimSuffix(h.root, "/")+"/")
		if !is || strings.Contains("/"+below, "/../") {
			return h.at, true
		}
		return path.Join(h.at, below), true
	}
	return "", false
}

func has(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }
