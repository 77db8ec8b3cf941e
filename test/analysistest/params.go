package analysistest

import (
	"errors"
	"testing"

	"posta.dev/posta/analyses"
)

// BadParams expects an error that wraps [analyses.ErrBadParam] for each of the values, which are given by parameter.
func BadParams(t *testing.T, a *analyses.Analysis, values map[string][]string) {
	t.Helper()
	for name, values := range values {
		for _, v := range values {
			if _, err := a.Args(map[string]string{name: v}); !errors.Is(err, analyses.ErrBadParam) {
				t.Errorf("%s=%q: %v", name, v, err)
			}
		}
	}
}

// BadArgs expects a joiner to refuse arguments that do not pass the checks. A forged frame may contain such arguments.
func BadArgs(t *testing.T, a *analyses.Analysis, all []analyses.Args) {
	t.Helper()
	for _, args := range all {
		if _, err := a.NewJoiner(args, analyses.Replica{Of: 1}); !errors.Is(err, analyses.ErrBadParam) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
