package mutants

import (
	"errors"
	"fmt"
	"testing"

	"posta.dev/posta/test/simulator/violation"
)

func TestAnotherRule(t *testing.T) {
	broken := func(text string) error { return fmt.Errorf("run: %w", violation.New("./test/sim", 3, 0, text)) }
	for text, counts := range map[string]bool{
		"R5: hwm 3 after 4": true, "panic: D1: rows": true, "R15: a frame": false, "panic: nil": false, "no rule": false,
		"liveness: hangs": false,
	} {
		if v := anotherRule(broken(text), "R5 D1"); (v == nil) != counts {
			t.Errorf("%q: %v", text, v)
		}
	}
	if v := anotherRule(errors.New("seed 3 is not repeated"), "R5"); v != nil {
		t.Errorf("what is not a violation is skipped: %v", v)
	}
}

func TestOtherRules(t *testing.T) {
	const out = "    judge.go:1: skipped: 7 names R5\n    judge.go:1: skipped: 9 names M10\n    judge.go:1: skipped: 11 names R5\n    " +
		"judge.go:1: skipped: 12 names \n"
	if got, want := otherRules([]byte(out)), "1 ×  1 × M10 2 × R5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := otherRules(nil); got != "none" {
		t.Errorf("%q", got)
	}
}
