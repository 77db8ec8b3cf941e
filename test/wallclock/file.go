package wallclock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrUnsupported is returned by Follow where no assembly for the processor and system exists.
var ErrUnsupported = errors.New("wallclock: not on this processor")

// fileSize is one number: by how many seconds the clock is off, as a little-endian int64. It lies on one page and is read by one load.
const fileSize = 8

// Set makes the clock of every process that follows file jump: from now on it is off by that much, whole seconds. The file is made if it is
// not there. A process that starts later has the jump behind it, like one on a machine whose clock is wrong.
func Set(file string, off time.Duration) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(off/time.Second)), 0)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("wallclock: set %s: %w", file, err)
	}
	return nil
}
