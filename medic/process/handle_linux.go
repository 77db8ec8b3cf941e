package process

import (
	"context"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"posta.dev/posta/medic"
)

// handle is a pidfd: it always means the process for which it was opened, and reports its end, even if that process is not our child.
type handle struct{ pid, fd int }

// openHandle returns nil if the kernel gives no pidfd: the kernel is older than 5.3, a sandbox forbids it, or the process is gone. Then the
// caller uses the node's files to find out whether the process exists, as on other systems.
func openHandle(pid int) *handle {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	return &handle{pid, fd}
}

// ended reports whether the process has ended. A zombie has.
func (h *handle) ended() bool { return readable(h.fd) }

func (h *handle) close() {
	if h != nil {
		_ = unix.Close(h.fd) // nothing was written
	}
}

// readable reports whether a pidfd says that its process has ended. It also returns true if poll fails: the caller then checks the files.
//
// Go's scheduler is not told about the system call, because it does not wait. Before an ordinary one the scheduler wakes its monitor
// thread. Medics look at all processes twenty times a second, and the monitor took a quarter of an idle medic's time.
func readable(fd int) bool {
	for {
		p, now := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}, unix.Timespec{}
		n, _, errno := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
		if errno != unix.EINTR {
			return errno != 0 || n != 0
		}
	}
}

// backstop bounds the wait for a process: its pid may belong to another process by now.
const backstop = time.Second

// awaitEnd returns when a process has ended, after backstop, or with ctx's error when ctx ends. Without a pidfd it returns after every.
// Polling in every case was rejected: looking at ten nodes every 10 ms took as much processor time as the nodes themselves.
func awaitEnd(ctx context.Context, pid int, every time.Duration) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return medic.Sleep(ctx, every)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer func() { _ = f.Close() }()
	if f.SetReadDeadline(time.Now().Add(backstop)) != nil { // the runtime cannot wait for this descriptor
		return medic.Sleep(ctx, every)
	}
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })()
	c, err := f.SyscallConn()
	if err != nil {
		return medic.Sleep(ctx, every)
	}
	// the only error is the deadline, and the next look finds the process's state
	_ = c.Read(func(fd uintptr) bool { return readable(int(fd)) })
	return ctx.Err()
}
