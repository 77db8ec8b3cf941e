package topology

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"posta.dev/posta/internal/lazy"
)

// Size is a number of bytes.
type Size int64

// Units are powers of two, and their names show it. "4MB" is refused and not guessed: many people read it as 4,000,000.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	giB Size = 1 << 30
)

var sizeForm = lazy.Regexp(`^([0-9]+) ?(B|KiB|MiB|GiB)$`)

var errSizeForm = errors.New(`a size is a whole number and a unit: B, KiB, MiB or GiB`)

// ParseSize reads "4MiB", "256KiB", "512B". It is the inverse of Size.String.
func ParseSize(s string) (Size, error) {
	m := sizeForm().FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q: %w", s, errSizeForm)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit := map[string]Size{"B": 1, "KiB": KiB, "MiB": MiB, "GiB": giB}[m[2]]
	if err != nil || n > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("%q is more bytes than can be counted: %w", s, errSizeForm)
	}
	return Size(n) * unit, nil
}

// String writes the size in the largest unit that divides it, so that nothing is lost.
func (s Size) String() string {
	switch {
	case s == 0:
		return "0B"
	case s%giB == 0:
		return fmt.Sprintf("%dGiB", s/giB)
	case s%MiB == 0:
		return fmt.Sprintf("%dMiB", s/MiB)
	case s%KiB == 0:
		return fmt.Sprintf("%dKiB", s/KiB)
	}
	return fmt.Sprintf("%dB", int64(s))
}
