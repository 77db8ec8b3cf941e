package client

import (
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// openStdin returns a reader of standard input that Close can interrupt.
func openStdin(in io.Reader) (io.ReadCloser, error) {
	if in == nil {
		in = os.Stdin
	}
	f, ok := in.(*os.File)
	if !ok {
		return io.NopCloser(in), nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stdin{in: f, wake: r, close: w}, nil
}

// stdin waits until there is something to read before it reads, because closing a blocking descriptor does not end a read of it. The
// descriptor is not closed, because it belongs to the caller. Its mode is not changed, because other processes may share it.
type stdin struct {
	in   *os.File
	wake *os.File // readable after Close

	once    sync.Once
	close   *os.File
	reading sync.Mutex // held by Read; guards closed
	closed  bool
}

func (s *stdin) Read(p []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for !s.closed {
		fds := []unix.PollFd{{Fd: int32(s.wake.Fd()), Events: unix.POLLIN}, {Fd: int32(s.in.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		case fds[0].Revents != 0:
			return 0, os.ErrClosed
		default:
			return s.in.Read(p)
		}
	}
	return 0, os.ErrClosed
}

func (s *stdin) Close() error {
	err := os.ErrClosed
	s.once.Do(func() {
		err = s.close.Close()
		s.reading.Lock()
		defer s.reading.Unlock()
		s.closed = true
		err = errors.Join(err, s.wake.Close())
	})
	return err
}
