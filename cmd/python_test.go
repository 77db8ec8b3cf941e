//go:build interop

package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
)

// pythonScript returns the beginning of a script: it imports the package, with this test's binary as the program. The package makes all
// temporary files in temp.
func pythonScript(t *testing.T, temp, script string, args ...string) (*exec.Cmd, *await.Log) {
	t.Helper()
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, python, append([]string{"-c", "import os, sys, posta\n" + script}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH=../client/python", "PYTHONDONTWRITEBYTECODE=1", "POSTA_PROGRAM="+os.Args[0], "TMPDIR="+temp)
	var out await.Log
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, &out
}

// python runs a script to its end.
func python(t *testing.T, script string, args ...string) string {
	t.Helper()
	temp := temp.Sockets(t)
	cmd, out := pythonScript(t, temp, script, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	empty(t, temp)
	return out.String()
}

// empty waits until a directory is empty: a private cluster removes its own directory when its last node has ended.
func empty(t *testing.T, dir string) {
	t.Helper()
	await.Until(t, "nothing is left in "+dir, func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) == 0
	})
}

// TestS4_PythonReachesAClusterWithKeys: the package reaches a cluster by its topology and a key, and leaves no process and no socket
// behind. The cluster refuses it without a key that the cluster knows.
func TestS4_PythonReachesAClusterWithKeys(t *testing.T) {
	k := newKeyedCluster(t)
	k.must("up")
	bikes := data(t, "2000")
	out := python(t, `
topology, data, bob, mallory = sys.argv[1:]
with posta.connect(topology=topology, key=bob) as c:
    print("run", len(c.run("bikes", data).tables))
    print("sql", len(c.sql("SELECT count(*) FROM '*/trips.csv' GROUP BY _file", data).rows) > 1)
    print("sessions", c.sessions())
try:
    posta.connect(topology=topology, key=mallory)
except posta.Error as err:
    print(type(err).__name__, err)
`, k.file, bikes, k.key("bob"), k.key("mallory"))
	for _, want := range []string{"run 3", "sql True", "sessions []", "Refused", "not in [clients]"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	temp := temp.Sockets(t)
	sockets := func() []string {
		found, err := filepath.Glob(filepath.Join(temp, "*", "s", "*.client"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	cmd, said := pythonScript(t, temp, `
c = posta.connect(topology=sys.argv[1], key=sys.argv[2])
print("connected", flush=True)
c.sessions()
sys.stdin.read()
`, k.file, k.key("bob"))
	held, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "Python is connected", func() bool { return strings.Contains(said.String(), "connected") })
	if len(sockets()) == 0 {
		t.Error("there are no sockets while it is connected")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	_ = held.Close()
	await.Until(t, "posta connect ends with the Python that has started it", func() bool { return len(sockets()) == 0 })
}

// TestPythonRunsWhatOnlyTheProgramReads: for JSON Lines and named files the package calls the program, and gets the same answer as for CSV.
func TestPythonRunsWhatOnlyTheProgramReads(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	bikes := data(t, "2000")
	out := python(t, `
topology, data = sys.argv[1:]
c = posta.connect(topology=topology)
want = c.run("bikes", data)
named = {f"{city}/{s}.csv": os.path.join(data, city, s + ".csv") for city in os.listdir(data) for s in ("trips", "stations", "weather")}
assert c.run("bikes", files=named).tables == want.tables, "named files"
with open(os.path.join(data, "toronto", "trips.csv"), "r+") as f:
    text = f.read().replace(",", ";")
    f.seek(0)
    f.write(text)
assert c.run("bikes", data).tables == want.tables, "another separator"
os.rename(os.path.join(data, "montreal", "trips.csv"), os.path.join(data, "montreal", "trips.csv.zip"))
try:
    c.run("bikes", data)
except posta.InputError as err:
    print(err)
`, k.file, bikes)
	for _, want := range []string{"trips.csv.zip", "ZIP"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// TestPythonIsKilledAndResumed: a client dies during its upload. Another process continues the session and gets the answer over all rows.
func TestPythonIsKilledAndResumed(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	bikes := data(t, "20000")
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	cmd, out := pythonScript(t, temp.Sockets(t), `
posta.connect(topology=sys.argv[1]).run("bikes", sys.argv[2], session=sys.argv[3], progress=lambda p: p.state == "uploading" and os._exit(9))
`, k.file, bikes, id)
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 9 {
		t.Fatalf("%v\n%s", err, out.String())
	}
	said := python(t, `
topology, data, id = sys.argv[1:]
c = posta.connect(topology=topology)
print("waits:", [(s.id == id, s.state) for s in c.sessions()])
resumed = c.run("bikes", data, resume=id)
whole = c.run("bikes", data)
print("the same:", resumed.tables == whole.tables and resumed.rejected == whole.rejected, resumed.session == id)
c.forget(id)
`, k.file, bikes, id)
	for _, want := range []string{"waits: [(True, 'running')]", "the same: True True"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing:\n%s", want, said)
		}
	}
}

// TestPythonIsKilledInSQL: when Python is killed, the processes it has started end in order and remove their files. Python's own files
// stay, as with every killed process.
func TestPythonIsKilledInSQL(t *testing.T) {
	temp, dir := temp.Sockets(t), slowTable(t)
	cmd, out := pythonScript(t, temp,
		`posta.sql("SELECT a.n, count(*) FROM t a JOIN t b ON a.k = b.k GROUP BY 1", data=sys.argv[1], progress=lambda p: print(p.state, flush=True))`, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "a session runs", func() bool {
		return strings.Contains(out.String(), "computing") || strings.Contains(out.String(), "uploading")
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	await.Until(t, "the private cluster is gone", func() bool {
		entries, err := os.ReadDir(temp)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), "posta-sql-") {
				return false
			}
		}
		return err == nil
	})
}

// TestPythonCtrlCInSQL: at KeyboardInterrupt the session is cancelled, and no process and no file is left.
func TestPythonCtrlCInSQL(t *testing.T) {
	temp, dir := temp.Sockets(t), slowTable(t)
	cmd, out := pythonScript(t, temp, `
try:
    posta.sql("SELECT a.n, count(*) FROM t a JOIN t b ON a.k = b.k GROUP BY 1", data=sys.argv[1], progress=lambda p: print(p.state, flush=True))
except KeyboardInterrupt:
    print("interrupted, left:", os.listdir(os.environ["TMPDIR"]))
`, dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "a session runs", func() bool {
		return strings.Contains(out.String(), "computing") || strings.Contains(out.String(), "uploading")
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "interrupted, left: []") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// slowTable makes a table whose join with itself takes long.
func slowTable(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("n,k\n")
	for i := range 40_000 {
		fmt.Fprintf(&b, "%d,%d\n", i, i%2)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
