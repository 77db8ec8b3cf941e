package cmd

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/run"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/natstest"
)

// The test binary also serves as the posta program, so that tests can start nodes and medics as their children.
const selfVar = "POSTA_TEST_SELF"

func TestMain(m *testing.M) {
	run.Small = 0                       // most tests are about processes; those of --in-process name a size
	run.Cores = func() int { return 2 } // tests count the processes of a run, which many cores have more of
	if os.Getenv(strangerVar) != "" {
		os.Exit(strangerMain())
	}
	if os.Getenv(selfVar) != "" {
		os.Exit(Run(program(), os.Args, Console{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	if err := os.Setenv(selfVar, "1"); err != nil {
		panic(err)
	}
	for _, v := range []string{"POSTA_TOPOLOGY", "POSTA_ENTRY"} {
		_ = os.Unsetenv(v)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { natstest.Remove(); os.Exit(code) }))
}

// recordVar names an environment variable that gives the program of the tests the generator that the README's recording uses.
const recordVar = "POSTA_TEST_RECORDING"

func program() Program {
	known := analyses.Set{bikes.New()}
	if os.Getenv(linksVar) != "" {
		known = append(known, links())
	}
	generators := map[string]Generator{"bikes": gen.Bikes}
	if os.Getenv(recordVar) != "" {
		generators["measurements"] = gen.Measurements
	}
	return Program{Analyses: known, Version: "test", Generators: generators}
}

// result is the result of a call of posta.
type result struct {
	code     int
	out, err string
}

// posta calls the command, and fails the test if the call takes unreasonably long.
func posta(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	r := postaUntil(ctx, context.Background(), args...)
	if cut := unfinished.FindString(r.err); cut != "" {
		t.Errorf("posta %s says %q, and not what", strings.Join(args, " "), cut)
	}
	return r
}

// unfinished matches a line that ends where a list or a name should follow.
var unfinished = regexp.MustCompile(
	`(?m)^.*\b([Tt]here is|for|of|named|called|(choices|commands|analyses|formats|streams) are|have one)[:,]? ?$`)

// postaUntil calls the command; the two contexts stand for the first and the second Ctrl-C.
func postaUntil(graceful, forced context.Context, args ...string) result {
	var out, err await.Log
	code := runWithin(graceful, forced, program(), append([]string{"posta"}, args...),
		Console{In: strings.NewReader(""), Out: &out, Err: &err})
	return result{code, out.String(), err.String()}
}

// alike reports whether a test is left to make nightly, which runs it with the race detector: `make test` runs another test of the same
// kind.
func alike(t *testing.T, other string) bool {
	t.Helper()
	if !raced {
		t.Logf("nothing to do without -race: %s is of the same kind", other)
	}
	return !raced
}

// must calls the command and fails the test if the command fails.
func must(t *testing.T, args ...string) result {
	t.Helper()
	r := posta(t, args...)
	if r.code != exit.OK {
		t.Fatalf("posta %s: exit code %d, %s", strings.Join(args, " "), r.code, r.err)
	}
	return r
}

// data makes data for bikes and returns its directory.
func data(t *testing.T, rows string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, "gen", "bikes", "--rows", rows, "--out", dir)
	return dir
}
