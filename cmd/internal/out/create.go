package out

import (
	"os"
	"syscall"
)

// CreateFile opens for writing the file that a flag names. A pipe without a reader is an error; CreateFile does not wait for one.
func CreateFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|syscall.O_NONBLOCK, 0o644)
}
