package process

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// TestR16_LogsRotate: a process that writes much has two log files of limited size. They hold the end of its output
// without a gap, and what the runtime wrote when it died. The process rotates its files itself, whoever started it.
func TestR16_LogsRotate(t *testing.T) {
	t.Setenv(LogSizeVar, "64KiB")
	r := children(t, t.TempDir(), "chatty")
	if err := r.Start(await.Soon(t), "a-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Wait(await.Soon(t), "a-1"); err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range []string{r.Log("a-1") + formerLog, r.Log("a-1")} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 64<<10+8<<10 { // and the output of the runtime
			t.Errorf("%s has %d bytes", name, len(b))
		}
		all = append(all, b...)
	}
	said := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^time=\S+ level=INFO msg=said line=(\d+)$`).FindAllSubmatch(all, -1) {
		if said[string(m[1])] {
			t.Errorf("line %s is there twice", m[1])
		}
		said[string(m[1])] = true
	}
	// Of each goroutine the files hold its last lines, without a gap.
	for w := range 4 {
		first := 0
		for i := w; i < chatLines; i += 4 {
			switch {
			case said[fmt.Sprint(i)] && first == 0:
				first = i + 1
			case !said[fmt.Sprint(i)] && first > 0:
				t.Errorf("line %d is lost, %d is there", i, first-1)
			}
		}
	}
	if len(said) < 500 { // a file has a few thousand lines
		t.Errorf("%d lines are left", len(said))
	}
	if !bytes.Contains(all, []byte("ready a-1")) || !bytes.Contains(all, []byte("panic: the last word")) {
		t.Errorf("what it said last is lost: %s", all[max(0, len(all)-2000):])
	}
}

// TestR16_ALogThatIsFullAtTheStart is put aside, even if the process never checks its size.
func TestR16_ALogThatIsFullAtTheStart(t *testing.T) {
	t.Setenv(LogSizeVar, "64KiB")
	r := children(t, t.TempDir(), "broken")
	for _, size := range []int{64<<10 - 1, 64 << 10} {
		if err := os.WriteFile(r.Log("a-1"), bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.Start(await.Soon(t), "a-1"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Wait(await.Soon(t), "a-1"); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(r.Log("a-1"))
		if aside := len(b) < 10; err != nil || aside != (size == 64<<10) || !strings.HasSuffix(string(b), "no\n") {
			t.Errorf("a log of %d bytes: then %d, %v", size, len(b), err)
		}
	}
}

func TestLogSize(t *testing.T) {
	for text, want := range map[string]topology.Size{"": 16 << 20, "1MiB": 1 << 20, "64KiB": 64 << 10, "1B": 0, "x": 0, "-1": 0} {
		t.Setenv(LogSizeVar, text)
		size, err := LogSize()
		if size != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %v, %v", text, size, err)
		}
		if err != nil && !strings.Contains(err.Error(), "POSTA_LOG_SIZE="+text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestStderrThatIsElsewhere: a process that was started by hand, with its output elsewhere, does not touch the log of
// its name.
func TestStderrThatIsElsewhere(t *testing.T) {
	file := t.TempDir() + "/a-1.log"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(logFileVar, file)
	if w := Stderr(); w != os.Stderr {
		t.Errorf("%T would be written to", w)
	}
}

// TestFormerLog: what earlier processes have written is read from the end of the file, and only if this process writes to it.
func TestFormerLog(t *testing.T) {
	file := t.TempDir() + "/a-1.log"
	if err := os.WriteFile(file, []byte(strings.Repeat("x", formerMost)+"the end\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(logFileVar, file)
	if got := FormerLog(); got != nil {
		t.Errorf("of another file %d bytes are read", len(got))
	}
	f, err := os.OpenFile(file, logFlags, logMode)
	if err != nil {
		t.Fatal(err)
	}
	own := os.Stderr
	os.Stderr = f
	got := FormerLog()
	os.Stderr = own
	if len(got) != formerMost || !strings.HasSuffix(string(got), "xthe end\n") {
		t.Errorf("%d bytes are read, ending in %q", len(got), got[max(0, len(got)-9):])
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
