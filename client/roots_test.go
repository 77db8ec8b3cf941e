package client

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

func writeAt(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// rooted returns an input over two roots, and the directory that has them and the file secret.csv.
func rooted(t *testing.T) (*Input, string) {
	t.Helper()
	dir := t.TempDir()
	writeAt(t, filepath.Join(dir, "a", "trips", "one.csv"), "n\n1\n")
	writeAt(t, filepath.Join(dir, "b", "stations.csv"), "n\n2\n")
	writeAt(t, filepath.Join(dir, "secret.csv"), "n\n42\n")
	in := NewInput("", nil, nil, 0)
	in.Roots = []string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "gone")}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return in, dir
}

// foundIn returns the contents of the files of a stream, one after the other.
func foundIn(t *testing.T, in *Input, files string) (string, error) {
	t.Helper()
	found, err := in.find(t.Context(), []protocol.Stream{{Name: "s", Files: files}}, &warnings{})
	if err != nil {
		return "", err
	}
	all := ""
	for _, s := range found[0] {
		f, err := s.open(t.Context())
		if err != nil {
			return all, err
		}
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return all, err
		}
		all += string(text)
	}
	return all, nil
}

// TestS8_RootsAreSearched: each stream has the files of one root. A root that this machine lacks has none, and two that have some are an
// error.
func TestS8_RootsAreSearched(t *testing.T) {
	in, dir := rooted(t)
	for files, want := range map[string]string{"trips/*.csv": "n\n1\n", "stations.csv": "n\n2\n"} {
		if got, err := foundIn(t, in, files); got != want || err != nil {
			t.Errorf("%s: %q, %v", files, got, err)
		}
		if !in.Has(files) {
			t.Errorf("it does not have %s", files)
		}
	}
	if _, err := foundIn(t, in, "weather.csv"); !errors.Is(err, ErrNoFiles) || !errors.Is(err, ErrInput) ||
		!strings.Contains(err.Error(), "this machine has no directory "+filepath.Join(dir, "gone")) || in.Has("weather.csv") {
		t.Errorf("no file: %v", err)
	}
	writeAt(t, filepath.Join(dir, "a", "stations.csv"), "n\n3\n")
	if got, err := foundIn(t, in, "stations.csv"); !errors.Is(err, ErrInput) || errors.Is(err, ErrNoFiles) ||
		!strings.Contains(err.Error(), "not clear which is meant") {
		t.Errorf("two roots: %q, %v", got, err)
	}
	if got, err := foundIn(t, in, "../secret.csv"); err == nil {
		t.Errorf("a path out of the root gives %q", got)
	}
}

// TestS8_NoLinkLeadsOutOfARoot, whatever kind it is and wherever it stands in the path. A link within the root is followed.
func TestS8_NoLinkLeadsOutOfARoot(t *testing.T) {
	for name, link := range map[string]func(a string) (files, to, at string){
		"a file": func(a string) (string, string, string) { return "x.csv", "../secret.csv", filepath.Join(a, "x.csv") },
		"an absolute path": func(a string) (string, string, string) {
			return "x.csv", filepath.Join(a, "trips", "one.csv"), filepath.Join(a, "x.csv")
		},
		"a directory": func(a string) (string, string, string) { return "x/*.csv", "..", filepath.Join(a, "x") },
		"a link to a link": func(a string) (string, string, string) {
			return "x.csv", "trips/../../secret.csv", filepath.Join(a, "x.csv")
		},
		"among other files": func(a string) (string, string, string) {
			return "trips/*.csv", "../../secret.csv", filepath.Join(a, "trips", "two.csv")
		},
	} {
		in, dir := rooted(t)
		files, to, at := link(filepath.Join(dir, "a"))
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
		if got, err := foundIn(t, in, files); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "a link leads out of") ||
			strings.Contains(got, "42") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if samples, err := in.Sampled(t.Context(), protocol.Stream{Name: "s", Files: files}, csv.Form{}); err == nil {
			t.Errorf("%s: sampled %d files", name, len(samples))
		}
	}
	in, dir := rooted(t)
	if err := os.Symlink("trips/one.csv", filepath.Join(dir, "a", "x.csv")); err != nil {
		t.Fatal(err)
	}
	if got, err := foundIn(t, in, "x.csv"); got != "n\n1\n" || err != nil {
		t.Errorf("a link within the root: %q, %v", got, err)
	}
}

// TestS8_ALinkThatReplacesAFileOfARoot after the file was found is not followed, neither when the file is opened nor when parts of it are
// read.
func TestS8_ALinkThatReplacesAFileOfARoot(t *testing.T) {
	in, dir := rooted(t)
	found, err := in.find(t.Context(), []protocol.Stream{{Name: "s", Files: "stations.csv"}}, &warnings{})
	if err != nil {
		t.Fatal(err)
	}
	s, at := &found[0][0], filepath.Join(dir, "b", "stations.csv")
	if err := errors.Join(os.Remove(at), os.Symlink("../secret.csv", at)); err != nil {
		t.Fatal(err)
	}
	if f, err := s.open(t.Context()); err == nil || f != nil {
		t.Errorf("it is opened: %v", err)
	}
	if f, err := s.local(); err == nil || f != nil {
		t.Errorf("a part of it is opened: %v", err)
	}
}

// TestS8_OnlyRegularFilesOfRoots: a pipe is refused at once, and nobody waits for its writer.
func TestS8_OnlyRegularFilesOfRoots(t *testing.T) {
	in, dir := rooted(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "a", "pipe.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := foundIn(t, in, "pipe.csv"); !errors.Is(err, ErrInput) ||
		!strings.Contains(err.Error(), "only regular files are read here") {
		t.Errorf("%q, %v", got, err)
	}
}
