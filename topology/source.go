package topology

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"posta.dev/posta/internal/owned"
)

// ErrNoText is wrapped by ReadText if the path is not a file that can hold a topology: a directory, a device, a pipe, or a file that is too
// large.
var ErrNoText = errors.New("it cannot be a topology")

// ReadText reads a topology file without interpreting it. It never blocks and never reads more than a topology may have: the path may name
// a pipe without a writer, or a device without an end.
func ReadText(path string) ([]byte, error) {
	// A pipe is opened without waiting for its writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read the topology: %w; name the file that describes the system", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the topology: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the topology: %s is %s: %w; name the file that describes the system", path, fileKind(info.Mode()), ErrNoText)
	}
	if err := owned.Unchanged(path, info); err != nil { // it says which programs see which files, and who may do what
		return nil, fmt.Errorf("read the topology: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the topology: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("read the topology: %s is larger than %s: %w; name the file that describes the system", path, Size(maxFile),
			ErrNoText)
	}
	return text, nil
}

func fileKind(m os.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&os.ModeNamedPipe != 0:
		return "a pipe"
	case m&os.ModeSocket != 0:
		return "a socket"
	case m&os.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}
