package client

import (
	"errors"
	"time"

	"posta.dev/posta/protocol"
)

// verdicts are what outputs say of a session that will have no answer there. One output may have lost its disk and another one keep the
// answer, so nothing is concluded before all of them were asked.
type verdicts struct {
	said   map[string]error // by endpoint
	silent map[string]int   // tries in a row without an answer
	since  time.Time        // when the last output that was asked had no answer, either
}

const (
	// silentTries is how often an output that is silent is asked when the others say that there is no answer.
	silentTries = 3
	// lostGrace is how long all outputs must know nothing of a session that is over at its inputs: its frames may be on their way to one.
	lostGrace = 5 * time.Second
)

func newVerdicts() *verdicts { return &verdicts{said: map[string]error{}, silent: map[string]int{}} }

// hears takes down that an output has the session, or answers something else than a verdict.
func (v *verdicts) hears(endpoint string) {
	delete(v.said, endpoint)
	delete(v.silent, endpoint)
	v.since = time.Time{}
}

func (v *verdicts) hearsNothing(endpoint string) { v.silent[endpoint]++ }

func (v *verdicts) hearsNo(endpoint string, why error) {
	v.said[endpoint] = why
	delete(v.silent, endpoint)
}

// conclusion returns why there is no answer when every output has said so, or was silent for long. It prefers a reason to ignorance.
func (v *verdicts) conclusion(outputs []*conn) error {
	var unknown, known error
	for _, o := range outputs {
		switch why := v.said[o.endpoint]; {
		case errors.Is(why, protocol.ErrUnknownSession):
			unknown = why
		case why != nil:
			known = why
		case v.silent[o.endpoint] < silentTries:
			return nil
		}
	}
	if known != nil {
		return known
	}
	if unknown != nil && v.since.IsZero() {
		v.since = time.Now()
	}
	if unknown != nil && time.Since(v.since) < lostGrace {
		return nil
	}
	return unknown
}
