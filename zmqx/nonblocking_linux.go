package zmqx

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// nonblockingConn reads, and writes small pieces, with system calls that Go's scheduler is not told about. Before an ordinary system call
// the scheduler wakes its monitor thread, which takes the processor away from calls that block. A call on these sockets never blocks,
// because they are non-blocking, and waking the monitor took a third of the processor time of an idle node or medic: it has a few small
// messages to read every 100 ms.
//
// Deadlines and Close work as ever: the runtime's poller does the waiting.
type nonblockingConn struct {
	net.Conn // a *net.TCPConn or *net.UnixConn
	raw      syscall.RawConn
	in, out  transfer // the reader owns in, the writer out
}

// transfer is one Read or Write. It is kept, with its function, so that a call does not allocate.
type transfer struct {
	p    []byte // what is left to read into, or to write
	n    int    // bytes transferred
	err  syscall.Errno
	step func(fd uintptr) (done bool)
}

// rawWriteMax is the largest write that the scheduler is not told about. A larger one may wait until the kernel has found memory for it.
const rawWriteMax = 4 << 10

// nonblocking returns a connection of which reads and small writes do not wake the runtime's monitor. Others than sockets are returned as
// they are.
func nonblocking(conn net.Conn) net.Conn {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return conn
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return conn // it is closed, as the first read will say
	}
	c := &nonblockingConn{Conn: conn, raw: raw}
	c.in.step, c.out.step = c.in.read, c.out.write
	return c
}

// beneath returns the socket, of which net.Buffers knows how to write many pieces at once.
func beneath(conn net.Conn) net.Conn {
	if c, ok := conn.(*nonblockingConn); ok {
		return c.Conn
	}
	return conn
}

func (c *nonblockingConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.in.begin(p)
	err := c.raw.Read(c.in.step)
	n, errno := c.in.end()
	received()
	switch {
	case errno != 0:
		return n, c.failed("read", errno)
	case err != nil:
		return n, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (c *nonblockingConn) Write(p []byte) (int, error) {
	sends()
	if len(p) == 0 || len(p) > rawWriteMax {
		return c.Conn.Write(p)
	}
	c.out.begin(p)
	err := c.raw.Write(c.out.step)
	n, errno := c.out.end()
	if errno != 0 {
		return n, c.failed("write", errno)
	}
	return n, err
}

// failed is the error that package net returns.
func (c *nonblockingConn) failed(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
}

func (t *transfer) begin(p []byte) { t.p, t.n, t.err = p, 0, 0 }

func (t *transfer) end() (int, syscall.Errno) {
	t.p = nil
	return t.n, t.err
}

// read is done when something was read, at the end of the stream, and after an error. Otherwise the poller waits until there is something
// to read.
func (t *transfer) read(fd uintptr) (done bool) {
	n, done := t.call(syscall.SYS_READ, fd)
	t.n = n
	return done
}

// write is done when everything is written, or after an error.
func (t *transfer) write(fd uintptr) (done bool) {
	for len(t.p) > 0 {
		n, done := t.call(syscall.SYS_WRITE, fd)
		if !done || t.err != 0 {
			return done
		}
		t.n += n
		t.p = t.p[n:]
	}
	return true
}

// call reads or writes once; done is false if the socket is not ready.
func (t *transfer) call(trap, fd uintptr) (n int, done bool) {
	for {
		r, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.p))), uintptr(len(t.p)))
		switch errno {
		case 0:
			return int(r), true
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, false
		default:
			t.err = errno
			return 0, true
		}
	}
}
