package role

import (
	"fmt"
	"math"
)

// Limits are bounds in bytes (R15, R16). They depend on the topology, which may change between two starts of a node. So nothing that must
// survive a crash may depend on them. Otherwise a repeated call could do something else than the first one. In recovery there are no
// limits, because the calls kept to the limits of their time.
type Limits struct {
	Frame  int // of a payload: limits.frame
	Memory int // of the reference data of one session in one joiner, and of its tables in a reducer: limits.memory
}

// NoLimits are those of recovery, and of tests.
var NoLimits = Limits{Frame: math.MaxInt, Memory: math.MaxInt}

// TooLarge returns the error for data that cannot be split any further (R15). what names the stream, the place, and the data.
func TooLarge(what string, size, limit int) error {
	return fmt.Errorf("%s takes %d bytes, and limits.frame lets messages of %d bytes pass: shorten it, or raise limits.frame in the "+
		"topology and start the session again",
		what, size, limit)
}
