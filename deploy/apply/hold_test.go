package apply

import (
	"strings"
	"testing"

	"posta.dev/posta/deploy"
)

// TestWhoRuns: whatever keeps a deploy waiting is named, so that nothing waits "for" nothing; nobody is named where nothing does.
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
