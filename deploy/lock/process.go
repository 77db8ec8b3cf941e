package lock

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// processID identifies this process among the processes of this machine: boot, namespace of process ids, process id, and start time,
// because process ids are used again. It returns "" if the system does not report these.
func processID() string {
	machine, ok := machineID()
	if !ok {
		return ""
	}
	began, ok := beginning(os.Getpid())
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s/%d/%s", machine, os.Getpid(), began)
}

func machineID() (string, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + "/" + ns, err == nil
}

// beginning returns when a process began, in the kernel's ticks. It reports false for a process that has ended and was not awaited yet.
func beginning(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before it may hold anything
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", false
	}
	return fields[19], true
}

// lives reports whether a process lives. known is false if it cannot be told from here, for instance because it is on another machine.
func lives(id string) (alive, known bool) {
	machine, ok := machineID()
	rest, here := strings.CutPrefix(id, machine+"/")
	if !ok || !here {
		return false, false
	}
	text, began, ok := strings.Cut(rest, "/")
	pid, err := strconv.Atoi(text)
	if !ok || err != nil {
		return false, false
	}
	now, alive := beginning(pid)
	return alive && now == began, true
}

// Describe returns the text by which this process names itself as holder: command, user and machine.
func Describe(command string) string {
	who, where := "somebody", "an unnamed machine"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		where = h
	}
	return fmt.Sprintf("posta %s of %s on %s, process %d", command, who, where, os.Getpid())
}
