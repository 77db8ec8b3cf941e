package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openFile opens a file of the data for reading. It never waits: a pipe is opened before it has a
// writer. Read waits for the writer, and Close ends that wait.
func openFile(path string, warn *warnings) (io.ReadCloser, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return opened(f, warn)
}

func opened(f *os.File, warn *warnings) (io.ReadCloser, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return &regularFile{f: f, info: info, warn: warn}, nil
	case mode&fs.ModeNamedPipe != 0:
		return &pipe{f: f, warn: warn}, nil
	}
	return f, nil
}

// regularFile notices when a file changes while it is read.
type regularFile struct {
	f    *os.File
	info fs.FileInfo // when it was opened
	read int64
	warn *warnings
}

func (f *regularFile) Read(p []byte) (int, error) {
	n, err := f.f.Read(p)
	f.read += int64(n)
	if err != io.EOF {
		return n, err
	}
	if f.read < f.info.Size() {
		return n, fmt.Errorf("%s ended after %d of %d bytes: it became shorter while it was read; run this again when nothing writes to it",
			f.f.Name(), f.read, f.info.Size())
	}
	if f.changed() {
		f.warn.add(f.f.Name(), "this file was changed while it was read; rows may be missing or cut short")
	}
	return n, err
}

func (f *regularFile) changed() bool {
	now, err := f.f.Stat()
	return err == nil && (now.Size() != f.info.Size() || !now.ModTime().Equal(f.info.ModTime()))
}

// ReadAt, Size and Unchanged implement format.Located, for a file that is not read from its beginning to its end.
func (f *regularFile) ReadAt(p []byte, at int64) (int, error) { return f.f.ReadAt(p, at) }

// Size returns the size that the file had when it was opened.
func (f *regularFile) Size() int64 { return f.info.Size() }

// Unchanged returns an error if the file has changed since it was opened: positions that were read from it before may be wrong then.
func (f *regularFile) Unchanged() error {
	if f.changed() {
		return errors.New("this file was changed while it was read; run this again when nothing writes to it")
	}
	return nil
}

func (f *regularFile) Close() error { return f.f.Close() }

// pipeWait is how long a pipe may have no writer before the user is warned.
const pipeWait = 2 * time.Second

const noWriter = "nobody writes to this pipe; a writer is waited for until --timeout or Ctrl-C"

// pipe is a named pipe. It waits for a writer before the first read, because a read without a writer would return the end of the file.
type pipe struct {
	f     *os.File
	begun bool
	warn  *warnings
}

func (f *pipe) Read(p []byte) (int, error) {
	if !f.begun {
		if err := f.await(); err != nil {
			return 0, err
		}
		f.begun = true
	}
	return f.f.Read(p)
}

func (f *pipe) Close() error { return f.f.Close() }

// await returns when there is something to read, or a writer has come and gone.
func (f *pipe) await() error {
	conn, err := f.f.SyscallConn()
	if err != nil {
		return err
	}
	told := make(chan struct{})
	timer := time.AfterFunc(pipeWait, func() {
		defer close(told)
		f.warn.add(f.f.Name(), noWriter)
	})
	defer func() {
		if !timer.Stop() {
			<-told
		}
	}()
	return conn.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR // the following read returns the error
	})
}
