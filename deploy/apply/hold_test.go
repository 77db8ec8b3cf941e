package apply

import (
	"strings"
	"testing"

	"posta.dev/posta/deploy"
)

// TestWhoRuns: the message names every session and node for which a deploy waits. If it waits for nothing, the message
// names nothing.
func TestWhoRuns(t *testing.T) {
	for want, now := range map[string]deploy.Running{
		"": {},
		"what is left of sessions in joiner-1, joiner-2": {Rest: map[string]int{"joiner-2": 1, "joiner-1": 2}},
		"an answer of input-1":                           {Silent: []string{"input-1"}},
		", 1 more":                                       {Sessions: make([]deploy.Session, 4), Rest: map[string]int{"joiner-1": 1}},
	} {
		if got := whoRuns(now); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%+v runs as %q", now, got)
		}
	}
}
