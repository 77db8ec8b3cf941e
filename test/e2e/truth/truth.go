// Package truth knows what the tests of whole clusters take for right: what an analysis' oracle answers. Oracles read rows in the plainest
// way, millions of them here, in one goroutine: the race detector has nothing to find in them and makes them ten times slower, so tests
// that are built with it ask a process that is not.
package truth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/test/oracle/bikesoracle"
	"posta.dev/posta/test/oracle/flightsoracle"
	"posta.dev/posta/test/oracle/memesoracle"
	"posta.dev/posta/test/oracle/moviesoracle"
)

// Here asks the oracle of an analysis in this process.
func Here(analysis, dir string) (*answer.Answer, error) {
	oracles := map[string]func(string, map[string]string) (*answer.Answer, error){
		"bikes": bikesoracle.Run, "flights": flightsoracle.Run, "movies": moviesoracle.Run, "memes": memesoracle.Run,
	}
	oracle := oracles[analysis]
	if oracle == nil {
		return nil, fmt.Errorf("analysis %q has no oracle", analysis)
	}
	return oracle(dir, nil)
}

// JSON returns the answer of an analysis over the files in dir.
func JSON(analysis, dir string) (json.RawMessage, error) {
	if raced {
		return elsewhere(analysis, dir)
	}
	a, err := Here(analysis, dir)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a)
}

// Queries returns the part of an answer that does not depend on the session, as compact JSON.
func Queries(t testing.TB, answer any) []byte {
	t.Helper()
	b, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var parts struct{ Queries, Rejected json.RawMessage }
	if err := json.Unmarshal(b, &parts); err != nil {
		t.Fatal(err)
	}
	return append(append(parts.Queries, '\n'), parts.Rejected...)
}

// elsewhere asks a process that is built without the race detector. Go keeps the program among what it has built.
func elsewhere(analysis, dir string) (json.RawMessage, error) {
	cmd := exec.Command("go", "run", "posta.dev/posta/test/e2e/truth/oracle", analysis, dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the oracle of %s: %w: %s", analysis, err, errs.Bytes())
	}
	return out.Bytes(), nil
}
