package process

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/topology"
)

// Environment variables that tell a process which file its standard error is, and how large the file may grow.
const (
	logFileVar = "POSTA_LOG_FILE"

	// LogSizeVar is the variable for the largest size of a log file, like 16MiB; users set it.
	LogSizeVar = "POSTA_LOG_SIZE"
)

const (
	defaultLogSize = 16 * topology.MiB
	leastLogSize   = 64 * topology.KiB
	formerLog      = ".1" // suffix of the log before the current one
)

// LogSize returns the largest size of a log file: from the environment, or 16 MiB. A node or medic has at most two files of that size
// (R16).
func LogSize() (topology.Size, error) {
	text := os.Getenv(LogSizeVar)
	if text == "" {
		return defaultLogSize, nil
	}
	size, err := topology.ParseSize(text)
	if err == nil && size < leastLogSize {
		err = fmt.Errorf("less than %v", leastLogSize)
	}
	if err != nil {
		return 0, fmt.Errorf("%s=%s in the environment: %w; write a size like 16MiB", LogSizeVar, text, err)
	}
	return size, nil
}

// Stderr returns where a process writes its log: standard error. If a Restarter has started it, its log file is rotated: a full one is
// renamed, a new one takes its place as standard error and standard output, and the one renamed before is lost.
//
// The process rotates its own file. So no line is split over two files, rotation does not depend on a medic, and the Go runtime's output of
// a panic goes to the new file, too. To let the medic copy and truncate was rejected: lines that are written in between are lost.
func Stderr() io.Writer {
	path := os.Getenv(logFileVar)
	size, err := LogSize()
	if path == "" || err != nil || !isFile(os.Stderr, path) {
		return os.Stderr
	}
	f := &logFile{path: path, most: int64(size), fds: []int{int(os.Stderr.Fd())}}
	if isFile(os.Stdout, path) {
		f.fds = append(f.fds, int(os.Stdout.Fd()))
	}
	if info, err := os.Stderr.Stat(); err == nil {
		f.size = info.Size()
	}
	return f
}

// formerMost is how much of the log of earlier processes FormerLog reads, in bytes.
const formerMost = 64 << 10

// FormerLog returns the end of the log that earlier processes of the same node have written into the file that Stderr writes to; nil if
// Stderr writes to no file. It must be called before this process has logged anything.
func FormerLog() []byte {
	path := os.Getenv(logFileVar)
	if path == "" || !isFile(os.Stderr, path) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.Size() > formerMost {
		_, _ = f.Seek(-formerMost, io.SeekEnd) // without it, the beginning is read
	}
	text, _ := io.ReadAll(io.LimitReader(f, formerMost)) // of a file that cannot be read, what was read
	return text
}

// isFile reports whether an open file is the one of that name: a user who starts a process by hand may have redirected its output.
func isFile(f *os.File, name string) bool {
	is, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && named.Mode().IsRegular() && os.SameFile(is, named)
}

// logFile is a process's own log.
type logFile struct {
	path string
	most int64
	fds  []int // all descriptors that refer to this file

	mu   sync.Mutex
	size int64 // bytes, as counted by this process
}

// Write writes one line, or several.
func (f *logFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size > 0 && f.size+int64(len(line)) > f.most {
		f.rotate()
	}
	n, err := os.Stderr.Write(line)
	f.size += int64(n)
	return n, err
}

// rotate begins a new file. If that is not possible, for example on a full disk, the old file is used further under its name, and rotate
// tries again after a sixteenth of the size.
func (f *logFile) rotate() {
	f.size -= f.most / 16
	if os.Rename(f.path, f.path+formerLog) != nil {
		return
	}
	next, err := os.OpenFile(f.path, logFlags, logMode)
	if err != nil {
		_ = os.Rename(f.path+formerLog, f.path) // an error could not be logged anywhere
		return
	}
	defer func() { _ = next.Close() }()
	for _, fd := range f.fds {
		if unix.Dup2(int(next.Fd()), fd) != nil {
			return // cannot happen: both are open
		}
	}
	f.size = 0
}

const (
	logFlags = os.O_CREATE | os.O_APPEND | os.O_WRONLY
	logMode  = owned.FileMode
)

// openLog opens the log of a process that is to start. A full log is renamed first: a process in a crash loop writes too little each time
// to rotate the log itself. If no new file can be created, the full one is used further (W5).
func openLog(path string, most topology.Size) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() >= int64(most) && os.Rename(path, path+formerLog) == nil {
		if f, err := os.OpenFile(path, logFlags, logMode); err == nil {
			return f, nil
		}
		_ = os.Rename(path+formerLog, path) // the open below reports what is wrong
	}
	return os.OpenFile(path, logFlags, logMode)
}
