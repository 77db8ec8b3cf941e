package bench

import (
	"errors"
	"os"
	"time"
)

// piece is what the plain contestant writes between two fsyncs.
const piece = 4 << 20

// writePlain is the simplest way to make bytes durable: write 4 MiB, fsync, and repeat, in one file. It returns how long this
// took, without creating and removing the file.
func writePlain(dir string, pool []byte, amount int64) (took time.Duration, err error) {
	f, err := os.CreateTemp(dir, "plain")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	begin := time.Now()
	for at := 0; amount > 0; at += piece {
		if at+piece > len(pool) {
			at = 0
		}
		n := min(amount, piece)
		if _, err := f.Write(pool[at : at+int(n)]); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		amount -= n
	}
	return time.Since(begin), nil
}

// newPool returns memory from which payloads are cut one after the other, and then again from the start. It is larger than a
// processor's cache, so payloads come from memory. Its bytes do not repeat within short distances.
func newPool() []byte {
	pool := make([]byte, 32<<20)
	x := uint64(1)
	for i := 0; i < len(pool); i += 8 {
		x = x*6364136223846793005 + 1442695040888963407
		for j := range 8 {
			pool[i+j] = byte(x >> (56 - 7*j))
		}
	}
	return pool
}

// rate returns MB (10^6 bytes) per second.
func rate(bytes int64, took time.Duration) float64 { return float64(bytes) / 1e6 / took.Seconds() }
