package cmd

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
)

// TestFilesOfProcAreRead: files of /proc are regular, and have 0 bytes by what the system says. So inputs cannot be told which bytes to
// read, and the client sends them.
func TestFilesOfProcAreRead(t *testing.T) {
	const name = "/proc/filesystems" // a table of two columns, separated by tabs
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("n\n%d\n", bytes.Count(text, []byte("\n"))-1)
	if r := posta(t, "sql", "-q", "--csv", "--file", "t="+name, "SELECT count(*) AS n FROM t"); r.out != want || r.code != exit.OK {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
}
