package process

import "syscall"

// dieWithParent has the kernel kill a child when the thread that forked it ends (see forkThread). SIGKILL, because SIGTERM leaves a hung child
// behind; what is on disk is all that counts, so nothing is lost. The group of its own keeps the terminal's Ctrl-C from it: the
// parent cancels its session first, and then stops the nodes.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
