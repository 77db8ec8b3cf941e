package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
)

// endlessVerb makes the test program run a long bench, which a test kills.
const endlessVerb = "endless-bench"

// endless returns a bench that takes minutes.
func endless(dir, posta string, out *bytes.Buffer) Config {
	_, own := thisProgram()
	return Config{
		Sections: []string{"bikes"}, Rounds: 1000, Cold: true, Dir: dir, Self: []string{posta, "bench"}, Out: out, Rows: 50_000,
		Set: map[string]string{}, rivals: own,
	}
}

func runEndless(dir, posta string) int {
	fmt.Fprintln(os.Stderr, Run(context.Background(), endless(dir, posta, &bytes.Buffer{})))
	return 1
}

// processesOf returns the processes whose command line names the directory.
func processesOf(dir string) (all []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(dir)) {
			all = append(all, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return all
}

// awaitProcesses waits until there are at least some processes, or none if some is 0.
func awaitProcesses(t *testing.T, dir string, some int) {
	t.Helper()
	await.Until(t, fmt.Sprintf("%d processes of the bench", some), func() bool {
		n := len(processesOf(dir))
		return n >= some && (some > 0 || n == 0)
	})
}

// An interrupted bench reports the interrupt, which gives exit code 130, and not how its children ended.
func TestBench_Interrupted(t *testing.T) {
	dir, posta := temp.Sockets(t), plainPosta(t)
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, endless(dir, posta, &bytes.Buffer{})) }()
	awaitProcesses(t, dir, 7) // the nodes and the client
	cancel(interrupted)
	if err := <-ended; !errors.Is(err, interrupted) || strings.Contains(err.Error(), "killed") {
		t.Errorf("%v", err)
	}
	awaitProcesses(t, dir, 0)
}

// When a bench is killed, its children end.
func TestBench_Killed(t *testing.T) {
	dir := temp.Sockets(t)
	cmd := exec.Command(os.Args[0], endlessVerb, dir, plainPosta(t))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitProcesses(t, dir, 1+7)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	awaitProcesses(t, dir, 0)
	if errs.Len() > 0 {
		t.Logf("%s", errs.Bytes())
	}
}
