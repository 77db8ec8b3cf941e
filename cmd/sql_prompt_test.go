//go:build linux

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/internal/pty"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
)

// person is a user at a terminal with posta.
type person struct {
	t    *testing.T
	pty  *os.File
	mu   sync.Mutex
	all  string // everything that the terminal has shown
	seen int    // how many bytes of all the person has seen
	done chan error
}

// sitDown starts posta on a terminal of 80 columns.
func sitDown(t *testing.T, env []string, args ...string) *person {
	t.Helper()
	controller, tty, err := pty.Open(80, 24)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), env...)
	if err := pty.Start(cmd, tty); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, pty: controller, done: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := controller.Read(b)
			p.mu.Lock()
			asked := strings.Count(p.all, askCursor)
			p.all += string(b[:n])
			asked = strings.Count(p.all, askCursor) - asked
			p.mu.Unlock()
			_, _ = controller.WriteString(strings.Repeat("\x1b[1;1R", asked)) // Read reports the error, too
			if err != nil {                                                   // EIO: no process has the terminal open any more
				return
			}
		}
	}()
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		p.done <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test failed
		<-waited
		<-read
		_ = controller.Close()
		if t.Failed() {
			t.Logf("the terminal has shown\n%s", p.all)
		}
	})
	return p
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.pty.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until the terminal shows a text after what was seen before.
func (p *person) sees(text string) {
	p.t.Helper()
	await.Until(p.t, fmt.Sprintf("%q is shown", text), func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := strings.Index(p.all[p.seen:], text)
		if i >= 0 {
			p.seen += i + len(text)
		}
		return i >= 0
	})
}

// leaves waits for the end of the program.
func (p *person) leaves() {
	p.t.Helper()
	if err := p.ends(); err != nil {
		p.t.Errorf("the prompt ends with %v", err)
	}
}

// ends waits for the end of the program and returns how it ended.
func (p *person) ends() error {
	p.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(2 * time.Minute):
		p.t.Fatal("the program does not end")
		return nil
	}
}

// askCursor asks a terminal for its cursor position. Every terminal answers that, and so does this one. Bubble Tea asks it whenever a
// program that contains it starts on a terminal, and waits up to 5 s for the answer.
const askCursor = "\x1b[6n"

const (
	keyUp = "\x1b[A"
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// TestThePromptAnswers: one cluster answers one statement after the other, each over several lines. Errors do not end the prompt,
// declarations stay valid, and the next prompt remembers what was typed.
func TestThePromptAnswers(t *testing.T) {
	dir := table(t, "trips.csv", "id,city,km\n1,Montreal,1.5\n2,Toronto,2\n3,Montreal,4\n")
	env := []string{"XDG_STATE_HOME=" + t.TempDir(), "TMPDIR=" + temp.Sockets(t)}
	p := sitDown(t, env, "sql", "--data", dir, "--csv", "--quiet")
	p.sees("posta> ")
	p.types("SELECT city, sum(km) AS km -- far;\r")
	p.sees("..> ")
	p.types("FROM trips GROUP BY city\rORDER BY city;\r")
	p.sees("city,km\r\nMontreal,5.5\r\nToronto,2.0\r\n")
	p.sees("posta> ")

	p.types("SELECT 'a''s;' AS s, ctiy FROM trips;\r")
	p.sees("posta: line 1, column 22: there is no column ctiy")
	p.sees("Did you mean city?")
	p.sees("posta> ")
	p.types("SELECT CAST(city AS BIGINT) FROM trips;\r") // this fails in the cluster
	p.sees("Montreal")
	p.sees("posta> ")

	p.types("CREATE VIEW far AS SELECT id FROM trips WHERE km > 3;\r")
	p.sees("far is declared")
	p.types("SELECT id AS far_ids FROM far;\r")
	p.sees("far_ids\r\n3\r\n")
	p.types("CREATE VIEW far AS SELECT id FROM trips WHERE km < 2; SELECT id AS near_ids FROM far;\r")
	p.sees("near_ids\r\n1\r\n")
	p.types(".tables\r")
	p.sees("trips\r\nfar\r\n")
	p.types(".schema trips\r")
	p.sees("city,TEXT\r\n")
	p.types(".explain SELECT count(*) FROM far\r")
	p.sees("one pass")
	p.types(".help\r")
	p.sees(".quit")
	p.types(".nothing\r")
	p.sees("unknown command .nothing")
	p.sees("posta> ") // before that the terminal is not raw, and the kernel would take Ctrl-C as a signal

	p.types("SELECT count(*) AS dropped" + ctrlC)
	p.sees("^C")
	p.sees("posta> ")
	p.types("SELECT coun\t(*) AS cities FROM tri\t;\r")
	p.sees("cities\r\n3\r\n")
	p.sees("posta> ")
	p.types(ctrlD)
	p.leaves()

	again := sitDown(t, env, "sql", "--data", dir)
	again.sees("posta> ")
	again.types(keyUp + "\r")
	again.sees("cities")
	again.sees("3\r\n")
	again.types(".quit\r")
	again.leaves()
	file := filepath.Join(strings.TrimPrefix(env[0], "XDG_STATE_HOME="), "posta", "sql_history")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history: %v, %v", info, err)
	}
	if left, _ := os.ReadDir(strings.TrimPrefix(env[1], "TMPDIR=")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestCtrlCCancelsTheStatementAndNotThePrompt: a statement that would take hours is cancelled, and the same nodes answer the next one.
func TestCtrlCCancelsTheStatementAndNotThePrompt(t *testing.T) {
	var many strings.Builder
	many.WriteString("n\n")
	for i := range 50_000 {
		fmt.Fprintf(&many, "%d\n", i)
	}
	dir := table(t, "t.csv", many.String())
	if err := os.WriteFile(filepath.Join(dir, "few.csv"), []byte("n\n6\n5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sitDown(t, []string{"XDG_STATE_HOME=" + t.TempDir(), "TMPDIR=" + temp.Sockets(t)},
		"sql", "--data", dir, "--lanes", "1", "--chunk", "1")
	p.sees("posta> ")
	p.types("SELECT sum(n) AS total FROM t;\r")
	p.sees("uploading")
	p.types(ctrlC)
	p.sees("posta: interrupted")
	p.sees("posta> ")
	p.types(".mode csv\r")
	p.sees("posta> ")
	p.types("SELECT 40 + 2 AS answer;\r")
	p.sees("answer\r\n42\r\n")
	p.types("SELECT max(n) AS top FROM few;\r")
	p.sees("top\r\n6\r\n")
	p.sees("posta> ")
	p.types(ctrlD)
	p.leaves()
}

// TestThePromptStartsAClusterForTables: a statement without tables, and a question about types, need no cluster. A wrong flag of the
// cluster is reported at once.
func TestThePromptStartsAClusterForTables(t *testing.T) {
	dir, tmp := table(t, "trips.csv", "id,km\n1,1.5\n2,2\n"), temp.Sockets(t)
	env := []string{"XDG_STATE_HOME=" + t.TempDir(), "TMPDIR=" + tmp}
	clusters := func() int {
		found, err := filepath.Glob(filepath.Join(tmp, "posta-run-*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	p := sitDown(t, env, "sql", "--data", dir, "--csv", "--quiet")
	p.sees("posta> ")
	p.types("SELECT 1 + 1 AS two; \r")
	p.sees("two\r\n2\r\n")
	p.types("DESCRIBE trips;\r")
	p.sees("km,DOUBLE\r\n")
	if n := clusters(); n != 0 {
		t.Errorf("%d clusters run for nothing", n)
	}
	for range 2 {
		p.types("SELECT sum(km) AS s FROM trips;\r")
		p.sees("s\r\n3.5\r\n")
		if n := clusters(); n != 1 {
			t.Errorf("%d clusters run", n)
		}
		p.sees("posta> ") // before that the terminal is not raw, and the kernel would take Ctrl-D as the end of a line
	}
	p.types(ctrlD)
	p.leaves()
	if n := clusters(); n != 0 {
		t.Errorf("%d clusters are left", n)
	}
	p = sitDown(t, env, "sql", "--data", dir, "--replicas", "joiner=x")
	p.sees("write STAGE=NUMBER")
	if err := p.ends(); err == nil {
		t.Error("a prompt begins with a wrong flag")
	}
}
