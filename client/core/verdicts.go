package core

import (
	"errors"
	"time"

	"posta.dev/posta/protocol"
)

// verdicts records which outputs say that they will have no answer, and why. One output may have lost its disk while another keeps the
// answer, so nothing is concluded before all outputs were asked.
type verdicts struct {
	said   map[*node]error
	silent map[*node]int // tries in a row without an answer
	since  time.Time     // since when no output knows the session; zero if one may know it
}

const (
	// silentTries is how often an output that is silent is asked when the others say that there is no answer.
	silentTries = 3
	// lostGrace is how long a session that is over at its inputs may be unknown to all outputs before it counts as lost: its frames may still
	// be on their way.
	lostGrace = 5 * time.Second
)

func newVerdicts() verdicts { return verdicts{said: map[*node]error{}, silent: map[*node]int{}} }

// hears notes that an output has the session, or may still receive it.
func (v *verdicts) hears(output *node) {
	delete(v.said, output)
	delete(v.silent, output)
	v.since = time.Time{}
}

func (v *verdicts) hearsNothing(output *node) { v.silent[output]++ }

func (v *verdicts) hearsNo(output *node, why error) {
	v.said[output] = why
	delete(v.silent, output)
}

// conclusion returns why there is no answer when every output has said so, or was silent for long. An output's reason outweighs another
// output that does not know the session.
func (v *verdicts) conclusion(outputs []*node, now time.Time) error {
	var unknown, known error
	for _, o := range outputs {
		switch why := v.said[o]; {
		case errors.Is(why, protocol.ErrUnknownSession):
			unknown = why
		case why != nil:
			known = why
		case v.silent[o] < silentTries:
			return nil
		}
	}
	if known != nil {
		return known
	}
	if unknown != nil && v.since.IsZero() {
		v.since = now
	}
	if unknown != nil && now.Sub(v.since) < lostGrace {
		return nil
	}
	return unknown
}
