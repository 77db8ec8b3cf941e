package nodes

import (
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/wal"
)

// TestW2_WhenADamagedLogIsOpenedAgain: a damaged log is opened again when it was changed, the change is finished, no process has it open,
// and it exists. A log that was not changed is not read again, however long the node waits.
func TestW2_WhenADamagedLogIsOpenedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "joiner-1")
	log, err := wal.Open(dir, wal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(wal.Record{Type: 1, Parts: [][]byte{[]byte("x")}}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	w := newRepairWatch(dir)
	looks := func(when string, want ...bool) {
		t.Helper()
		for i, opens := range want {
			if w.look() != opens {
				t.Fatalf("%s, look %d: the log is opened: %v", when, i+1, !opens)
			}
		}
	}
	change := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	looks("as it was", false, false, false)
	change("snapshots/a", "1")
	looks("while it is being changed", false)
	change("snapshots/a", "12")
	looks("while it is being changed", false)
	looks("idle", true)

	w = newRepairWatch(dir)
	looks("damaged nevertheless", false, false)
	if log, err = wal.Open(dir, wal.Options{}); err != nil {
		t.Fatal(err)
	}
	looks("while somebody has it open", false, false, false)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	looks("closed", true)

	w = newRepairWatch(dir)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	looks("moved away", false, false, false)
}
