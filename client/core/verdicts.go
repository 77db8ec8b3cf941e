package core

import (
	"errors"
	"time"

	"posta.dev/posta/protocol"
)

// verdicts are what outputs say of a session that will have no answer there. One output may have lost its disk and another one keep the
// answer, so nothing is concluded before all of them were asked.
type verdicts struct {
	said   map[*node]error
	silent map[*node]int // tries in a row without an answer
	since  time.Time     // when the last output that was asked had no answer, either
}

const (
	// silentTries is how often an output that is silent is asked when the others say that there is no answer.
	silentTries = 3
	// lostGrace is how long all outputs must know nothing of a session that is over at its inputs: its frames may be on their way to one.
	lostGrace = 5 * time.Second
)

func newVerdicts() verdicts { return verdicts{said: map[*node]error{}, silent: map[*node]int{}} }

// hears takes down that an output has the session, or answers something else than a verdict.
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

// conclusion returns why there is no answer when every output has said so, or was silent for long. It prefers a reason to ignorance.
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
