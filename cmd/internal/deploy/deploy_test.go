package deploy

import (
	"strings"
	"testing"

	"posta.dev/posta/deploy/plan"
)

// TestAdviceAfterARollbackThatStopped: a rollback that went back from the last good topology to the one before does not continue when it is
// run again.
func TestAdviceAfterARollbackThatStopped(t *testing.T) {
	last, before := &plan.Desired{File: "last", Image: "posta:sha-2"}, &plan.Desired{File: "before", Image: "posta:sha-1"}
	good := []plan.Revision{{Number: 2, Digest: last.RevisionDigest()}, {Number: 1, Digest: before.RevisionDigest()}}
	for _, c := range []struct {
		rollback bool
		to       *plan.Desired
		want     string
	}{
		{false, last, "run the same command again to continue"}, {false, before, "run the same command again to continue"},
		{true, last, "run the same command again to continue"}, {true, before, "now goes to the last good topology"},
	} {
		if got := advice(c.rollback, c.to, good); !strings.Contains(got, c.want) {
			t.Errorf("rollback %v to %s: %q", c.rollback, c.to.File, got)
		}
	}
}
