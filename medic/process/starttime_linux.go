package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// startTime returns when a process was started, as ticks since the boot and the boot's id. Together with the pid this is unique. It returns
// "" if there is no such process, or only a zombie of it.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	// "pid (name) state ppid …": the name may hold spaces and brackets. The state is field 3, the start field 22. Field 20 is the number of
	// threads: while threads other than the first are still ending, a zombie holds its files and locks.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat has %d fields after the name, at least 20 are expected", pid, len(fields))
	}
	if state := fields[0]; state == "X" || state == "Z" && fields[17] <= "1" {
		return "", nil
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return fields[19] + "@" + strings.TrimSpace(string(boot)), nil
}
