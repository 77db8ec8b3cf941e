package out

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/await"
)

// neverEnding has more rows than any test reads.
func neverEnding() *client.Answer {
	rows := protocol.NewRows(1)
	for i := range int64(100_000) {
		if err := rows.Add(protocol.Value{Kind: protocol.Int, Int: i}); err != nil {
			panic(err)
		}
	}
	all := make([]protocol.Rows, 1_000_000)
	for i := range all {
		all[i] = rows
	}
	return &client.Answer{Queries: []client.Table{client.NewTable("q", []string{"n"}, all...)}}
}

func few(texts ...string) *client.Answer {
	rows := protocol.NewRows(1)
	for _, s := range texts {
		if err := rows.Add(protocol.Value{Text: s}); err != nil {
			panic(err)
		}
	}
	return &client.Answer{Queries: []client.Table{client.NewTable("q", []string{"text"}, rows)}}
}

func write(t *testing.T, place string, a *client.Answer) {
	t.Helper()
	target, err := Parse(place, "", nil)
	if err == nil {
		err = target.Prepare(nil)
	}
	if err == nil {
		_, err = target.Write(a)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files returns the names in a directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// TestAKilledProcessLeavesTheFormerFile: the former file stays before and after a SIGKILL. The next process removes the draft of the dead
// one, and does not touch the draft of a living one.
func TestAKilledProcessLeavesTheFormerFile(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "answers.csv")
	write(t, place, few("former"))
	begin := func() (kill func()) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), endless+"="+place)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill = sync.OnceFunc(func() {
			_ = child.Process.Kill()
			_ = child.Wait()
		})
		t.Cleanup(kill)
		return kill
	}
	drafts := func() (all []string) {
		all, err := filepath.Glob(filepath.Join(dir, draftPattern))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	// begun waits for a draft that has grown: its process has locked it and is writing.
	begun := func(n int) {
		t.Helper()
		await.Until(t, fmt.Sprintf("%d drafts have grown", n), func() bool {
			grown := 0
			for _, d := range drafts() {
				if info, err := os.Stat(d); err == nil && info.Size() > bufferBytes {
					grown++
				}
			}
			return grown >= n
		})
	}
	kill := begin()
	begun(1)
	kill()
	if got := content(t, place); got != "text\nformer\n" || len(drafts()) != 1 {
		t.Fatalf("after the kill there are %v, and in the file is %.100q", files(t, dir), got)
	}
	dead := drafts()[0]
	killLiving := begin()
	begun(2)
	write(t, place, few("new"))
	left := drafts()
	if len(left) != 1 || left[0] == dead {
		t.Errorf("there are the drafts %v; the dead process's is %s", left, dead)
	}
	killLiving()
	write(t, place, few("newest"))
	if got := content(t, place); got != "text\nnewest\n" || len(files(t, dir)) != 1 {
		t.Errorf("at last there are %v, and in the file is %.100q", files(t, dir), got)
	}
}

// TestManyWriteOneFile: many writers of one file and many sweeps do not disturb each other.
func TestManyWriteOneFile(t *testing.T) {
	place := filepath.Join(t.TempDir(), "answers.csv")
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 20 {
				target, err := Parse(place, "", nil)
				if err == nil {
					err = target.Prepare(nil)
				}
				if err == nil {
					_, err = target.Write(few("same"))
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	if got := content(t, place); got != "text\nsame\n" || len(files(t, filepath.Dir(place))) != 1 {
		t.Errorf("%v, %q", files(t, filepath.Dir(place)), got)
	}
}

// TestNothingIsReplacedWhenOneFileFails: if one of several files cannot be written, none is replaced.
func TestNothingIsReplacedWhenOneFileFails(t *testing.T) {
	dir := t.TempDir()
	a := few("former")
	a.Queries = append(a.Queries, client.NewTable("r", []string{"x"}))
	write(t, dir+"/", a)
	a = few("new")
	a.Queries = append(a.Queries, client.NewTable("r", []string{"x", "x"}))
	target, err := Parse(dir, "jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	if _, err := target.Write(a); !errors.Is(err, ErrUse) || !strings.Contains(err.Error(), `r: there are two columns "x"`) {
		t.Errorf("two columns of one name: %v", err)
	}
	if after := files(t, dir); strings.Join(before, " ") != "q.csv r.csv" || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("there were %v, and there are %v", before, after)
	}
}

func TestAFileKeepsItsPermissionsAndItsLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link.csv")
	if err := os.WriteFile(real, []byte("former"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	write(t, link, few("new"))
	info, err := os.Lstat(real)
	if err != nil || info.Mode().Perm() != 0o600 || content(t, real) != "text\nnew\n" {
		t.Errorf("%v, %v, %q", err, info.Mode(), content(t, real))
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
}

// TestAFileAppearsWhereALinkLeads: a symbolic link stays, and the file appears at its target. This holds if the target does not exist yet,
// for several links in a row, and for a link to a directory, where ".." of the target is not ".." of the link.
func TestAFileAppearsWhereALinkLeads(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "deep", "below"), 0o755))
	links := map[string]string{"a.csv": "one.csv", "b.csv": "c.csv", "c.csv": dir + "/two.csv", "to": "deep/below",
		"d.csv": "to/../three.csv", "answers/q.csv": "../four.csv"}
	must(os.Mkdir(filepath.Join(dir, "answers"), 0o755))
	for name, to := range links {
		must(os.Symlink(to, filepath.Join(dir, name)))
	}
	for place, is := range map[string]string{"a.csv": "one.csv", "b.csv": "two.csv", "d.csv": "deep/three.csv", "answers/": "four.csv"} {
		for _, text := range []string{"first", "second"} {
			write(t, dir+"/"+place, few(text))
			if got := content(t, filepath.Join(dir, is)); got != "text\n"+text+"\n" {
				t.Errorf("%s: %q", place, got)
			}
		}
	}
	for name, to := range links {
		if is, err := os.Readlink(filepath.Join(dir, name)); err != nil || is != to {
			t.Errorf("the link %s leads to %q, %v", name, is, err)
		}
	}
	must(os.Symlink("nowhere/x.csv", filepath.Join(dir, "e.csv")))
	target, err := Parse(filepath.Join(dir, "e.csv"), "", nil)
	must(err)
	if err := target.Prepare(nil); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "is a symbolic link to a place that is not there") {
		t.Error(err)
	}
}

// TestAFullDiskIsSaid: a full disk, and a limit on the size of files, are errors that say what to do, and the former file stays.
func TestAFullDiskIsSaid(t *testing.T) {
	for name, says := range map[string]string{"answers.csv": "write answers to ", "report.html": "write the report to "} {
		fullDisk(t, name, says)
	}
}

func fullDisk(t *testing.T, name, says string) {
	t.Helper()
	dir := t.TempDir()
	place := filepath.Join(dir, name)
	if err := os.WriteFile(place, []byte("former"), 0o644); err != nil {
		t.Fatal(err)
	}
	// A shell sets the limit for the child alone. The child gets an error instead of a signal.
	child := exec.Command("sh", "-c", `trap '' XFSZ; ulimit -f 200; exec "$0"`, os.Args[0])
	child.Env = append(os.Environ(), endless+"="+place)
	said, err := child.Output()
	if err == nil || !strings.Contains(string(said), says+place) || !strings.Contains(string(said), syscall.EFBIG.Error()) {
		t.Errorf("%v, %s", err, said)
	}
	if got := content(t, place); got != "former" || len(files(t, dir)) != 1 {
		t.Errorf("there are %v, and in the file is %.100q", files(t, dir), got)
	}
}
