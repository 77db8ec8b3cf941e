package cgroup

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// TestMemory: the least limit of all groups around the process counts, of either version, in containers and outside.
func TestMemory(t *testing.T) {
	const (
		v2  = "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		v1  = "35 24 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n34 24 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		all = "9223372036854771712\n"
	)
	for name, c := range map[string]struct {
		files map[string]string
		limit int64
		alone bool
	}{
		"no groups": {nil, 0, false},
		"no mounts": {map[string]string{"proc/self/cgroup": "0::/a\n"}, 0, false},
		"nothing set": {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/a/memory.max": "max\n"}, 0, false},
		"own": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/b/memory.max": "1000\n",
			"sys/fs/cgroup/a/b/cgroup.procs": "7\n", "sys/fs/cgroup/a/memory.max": "2000\n"}, 1000, true},
		"shared": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/b/memory.max": "1000\n",
			"sys/fs/cgroup/a/b/cgroup.procs": "7\n8\n"}, 1000, false},
		"around it": {map[string]string{"proc/self/cgroup": "0::/a/b\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/b/memory.max": "3000\n",
			"sys/fs/cgroup/a/b/cgroup.procs": "7\n", "sys/fs/cgroup/a/memory.max": "2000\n", "sys/fs/cgroup/a/cgroup.procs": ""}, 2000, false},
		"slowed down": {map[string]string{"proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/a/memory.max": "3000\n",
			"sys/fs/cgroup/a/memory.high": "2500\n"}, 2500, false},
		"of the root": {map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "500\n",
			"sys/fs/cgroup/cgroup.procs": "7\n"}, 500, true},
		"the older version": {map[string]string{"proc/self/cgroup": "4:memory:/a\n3:cpu:/c\n0::/\n", "proc/self/mountinfo": v1 + v2,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4096\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": all,
			"sys/fs/cgroup/cpu/c/memory.limit_in_bytes": "1\n", "sys/fs/cgroup/memory/a/cgroup.procs": "7\n"}, 4096, true},
		"the older version, nothing set": {map[string]string{"proc/self/cgroup": "4:memory:/a\n", "proc/self/mountinfo": v1,
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": all}, 0, false},
		"a container that sees the path outside": {map[string]string{"proc/self/cgroup": "4:memory:/docker/1\n",
			"proc/self/mountinfo":                          "35 24 0:30 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "4096\n",
			"sys/fs/cgroup/memory/docker/1/limit_in_bytes": "1\n"}, 4096, false},
		"a container that sees another path": {map[string]string{"proc/self/cgroup": "0::/../other\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/memory.max": "4096\n", "sys/fs/cgroup/cgroup.procs": "7"}, 4096, true},
		"a path with a space": {map[string]string{"proc/self/cgroup": "0::/x y/b:c\n",
			"proc/self/mountinfo": `29 23 0:26 /x\040y /my\040groups rw - cgroup2 cgroup2 rw` + "\n", "my groups/b:c/memory.max": "77"}, 77, false},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		read := func(name string) ([]byte, error) { return fs.ReadFile(files, name[1:]) }
		if limit, alone := least(read, 7); limit != c.limit || alone != c.alone {
			t.Errorf("%s: %d, alone %v", name, limit, alone)
		}
	}
}
