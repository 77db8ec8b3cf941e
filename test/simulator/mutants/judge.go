package mutants

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/test/simulator/violation"
)

// sought is an environment variable of the tests that Run starts: it has the rules whose failures find the bug.
const sought = "POSTA_MUTANT_RULES"

var (
	bySeed = regexp.MustCompile(`seed (\d+), after [^\n]{0,150}`)
	passed = regexp.MustCompile(`(?m)skipped: (\S+) names (.*)$`)
)

// Judge handles the result of a seed in a test that Run has started, and returns false in any other test. A violation of a sought rule
// fails the test, which ends it. A violation of another rule does not count, and the search continues.
func Judge(t *testing.T, err error) (underway bool) {
	rules := os.Getenv(sought)
	if rules == "" {
		return false
	}
	if v := anotherRule(err, rules); v != nil {
		t.Logf("skipped: %d names %s", v.Seed, v.Rule)
	} else {
		t.Error(err)
	}
	return true
}

// anotherRule returns err as a violation if its rule does not belong to the rules.
func anotherRule(err error, rules string) *violation.Violation {
	var v *violation.Violation
	if !errors.As(err, &v) || slices.Contains(strings.Fields(rules), v.Rule) {
		return nil
	}
	return v
}

// otherRules counts the failures that do not count, by the rule that they name.
func otherRules(out []byte) string {
	n := map[string]int{}
	for _, line := range passed.FindAllSubmatch(out, -1) {
		n[string(bytes.TrimSpace(line[2]))]++
	}
	var b strings.Builder
	for _, rule := range slices.Sorted(maps.Keys(n)) {
		fmt.Fprintf(&b, "%d × %s ", n[rule], rule)
	}
	if b.Len() == 0 {
		return "none"
	}
	return strings.TrimSpace(b.String())
}
