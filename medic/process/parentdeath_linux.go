package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the kernel kill a child when the thread that forked it ends (see forkThread). It is SIGKILL, because SIGTERM would
// leave a hung child behind. Nothing is lost, because all that matters is on disk. The child has its own process group, so that it does not
// get the terminal's Ctrl-C: the parent cancels its session first, and then stops the nodes.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// companionNicer is added to the niceness of the keeper for its companion; 19 is the highest niceness.
const companionNicer = 10

// beNicer lowers the priority of the calling thread, and of the processes that it forks from then on.
func beNicer() error {
	now, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, min(19, 20-now+companionNicer)) // the system call returns 20 minus the niceness
}
