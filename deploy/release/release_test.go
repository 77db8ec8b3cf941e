package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const tested = "v1.2.3-rc.1"

// Each system costs the compilation of everything for it, optimised by a profile: two minutes of a processor.
var all = flag.Bool("all", false, "make the release for all systems, not for linux/amd64 alone")

// made makes a release and returns its directory.
func made(t *testing.T, targets []target) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	r := release{root: "../..", out: out, version: tested, targets: targets}
	if err := r.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestRelease: all files are there with the right checksums. A second release of the same commit has the same
// checksums. A package can be installed and used.
func TestRelease(t *testing.T) {
	systems := []target{{"linux", "amd64"}}
	if *all {
		systems = targets
	}
	dist := made(t, systems)
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := filesFor(systems)
	if !slices.Equal(names, want) {
		t.Fatalf("there are %q, want %q", names, want)
	}
	run(t, dist, "sha256sum", "--strict", "--check", sumsFile)
	first, err := os.ReadFile(filepath.Join(dist, sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(first), "\n") != len(want)-1 {
		t.Errorf("the sums are of other files:\n%s", first)
	}
	again, err := os.ReadFile(filepath.Join(made(t, []target{{"linux", "amd64"}}), sumsFile))
	if err != nil || strings.Count(string(again), "\n") != 4 {
		t.Fatalf("for one target: %v\n%s", err, again)
	}
	for line := range strings.Lines(string(again)) {
		if !strings.Contains(string(first), line) {
			t.Errorf("made twice, a file has other bits: %s", line)
		}
	}
	t.Run("tar", func(t *testing.T) { checkTar(t, filepath.Join(dist, "posta_1.2.3-rc.1_linux_amd64.tar.gz")) })
	t.Run("bill", func(t *testing.T) { checkBill(t, filepath.Join(dist, "posta_1.2.3-rc.1.cdx.json")) })
	t.Run("deb", func(t *testing.T) {
		installs(t, filepath.Join(dist, fmt.Sprintf("posta_1.2.3-rc.1_%s.deb", runtime.GOARCH)))
	})
}

// filesFor returns the names of all files of a release for these systems, sorted.
func filesFor(systems []target) []string {
	names := []string{sumsFile, "posta_1.2.3-rc.1.cdx.json"}
	for _, s := range systems {
		names = append(names, fmt.Sprintf("posta_1.2.3-rc.1_%s_%s.tar.gz", s.os, s.arch))
		if s.os == "linux" {
			names = append(names, fmt.Sprintf("posta_1.2.3-rc.1_%s.deb", s.arch), fmt.Sprintf("posta_1.2.3-rc.1_%s.rpm", s.arch))
		}
	}
	slices.Sort(names)
	return names
}

func checkTar(t *testing.T, name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]int64{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[strings.TrimPrefix(h.Name, "posta_1.2.3-rc.1_linux_amd64/")] = h.Mode
		if h.Size == 0 {
			t.Errorf("%s is empty", h.Name)
		}
	}
	for _, want := range []string{"LICENSE", "README.md", "topology.toml", "completions/posta.bash", "completions/_posta",
		"completions/posta.fish", "man/posta.1"} {
		if modes[want] != 0o644 {
			t.Errorf("%s has mode %o, want 644", want, modes[want])
		}
	}
	if modes["posta"] != 0o755 || len(modes) != 8 {
		t.Errorf("files are %v", modes)
	}
}

func checkBill(t *testing.T, name string) {
	data, err := os.ReadFile(name)
	var bill struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version, Purl string }
	}
	if err = errors.Join(err, json.Unmarshal(data, &bill)); err != nil || bill.Format != "CycloneDX" {
		t.Fatalf("%q, %v", bill.Format, err)
	}
	have := map[string]bool{}
	for _, c := range bill.Components {
		have[c.Name] = c.Version != "" && c.Purl == "pkg:golang/"+c.Name+"@"+c.Version
	}
	if !have["github.com/go-zeromq/zmq4"] || !have["github.com/tidwall/wal"] || !have["std"] || have["go.uber.org/goleak"] {
		t.Errorf("it names %v", have)
	}
}

// installs installs the package into a root that holds nothing else, and runs an analysis and a statement there, as a
// user would. It has to run as root.
func installs(t *testing.T, deb string) {
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log", "tmp", "proc", "dev", "home"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "tmp"), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, ".", "dpkg", "--root="+root, "--install", deb)
	if got := run(t, ".", "dpkg-query", "--admindir="+filepath.Join(root, "var/lib/dpkg"), "--show", "--showformat=${Status} ${Version}",
		"posta"); !strings.HasPrefix(got, "install ok installed 1.2.3~rc.1") {
		t.Errorf("dpkg says %q", got)
	}
	for _, file := range []string{"usr/share/man/man1/posta.1.gz", "usr/share/bash-completion/completions/posta",
		"usr/share/doc/posta/copyright"} {
		if info, err := os.Stat(filepath.Join(root, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	// The mount is in a namespace of its own, so it ends with the command.
	inside := func(args ...string) string {
		return run(t, ".", "unshare", append([]string{"--mount", "--", "sh", "-c",
			`mount -t proc proc "$0/proc" && touch "$0/dev/null" && mount --bind /dev/null "$0/dev/null" && exec chroot "$0" "$@"`, root},
			args...)...)
	}
	if got := inside("/usr/bin/posta", "--version"); got != "posta version "+tested+"\n" {
		t.Errorf("--version prints %q", got)
	}
	inside("/usr/bin/posta", "gen", "bikes", "--rows", "1000", "--out", "/home/bikes")
	if got := inside("/usr/bin/posta", "run", "bikes", "--data", "/home/bikes", "--json"); !strings.Contains(got, `"analysis": "bikes"`) &&
		!strings.Contains(got, `"rows"`) {
		t.Errorf("the analysis prints %.300s", got)
	}
	if err := os.WriteFile(filepath.Join(root, "home", "t.csv"), []byte("city,km\nRome,1\nRome,2\nOslo,4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := inside("/usr/bin/posta", "sql", "--quiet", "--csv", "--data", "/home",
		"SELECT city, sum(km) AS km FROM t GROUP BY city ORDER BY city"); !strings.Contains(got, "Oslo,4\nRome,3\n") {
		t.Errorf("the statement prints %.300s", got)
	}
}

// TestReplaceable: a directory that holds anything else is not removed.
func TestReplaceable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&release{root: "../..", out: dir, version: tested}).make(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("a directory with other files: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.txt")); err != nil {
		t.Error(err)
	}
	if err := (&release{root: "../..", out: filepath.Join(dir, "dist"), version: "3.0"}).make(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "v0.3.0") {
		t.Errorf("a version that is none: %v", err)
	}
}
