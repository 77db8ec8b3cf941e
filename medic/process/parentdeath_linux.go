package process

import "syscall"

// dieWithParent has the kernel kill a child when the thread that forked it ends (see forkThread). It is SIGKILL, because SIGTERM would leave a hung
// child behind. Nothing is lost, because all that matters is on disk. The child has its own process group, so that it does not get the terminal's
// Ctrl-C: the parent cancels its session first, and then stops the nodes.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
