package client

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// findFiles returns the files of one stream.
func findFiles(dir string, s protocol.Stream) ([]Source, error) {
	all, err := findAll(tree{dir: dir}, []protocol.Stream{s}, &warnings{})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

func names(sources []Source) (list []string) {
	for _, s := range sources {
		list = append(list, s.Name)
	}
	return list
}

func TestFilesArePatternsBelowTheDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"b/trips.csv", "a/trips.csv.gz", "a/other.csv", "trips.csv", ".git/trips.csv", "c/d/trips.csv",
		"e/other.csv"} {
		write(t, filepath.Join(dir, file), []byte("x\n"))
	}
	if err := os.Symlink(filepath.Join(dir, "b"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]string{
		"*/trips.csv":   {"a/trips.csv", "b/trips.csv", "link/trips.csv"},
		"trips.csv":     {"trips.csv"},
		"c/*/trips.csv": {"c/d/trips.csv"},
		"a/*.csv":       {"a/other.csv", "a/trips.csv"},
	} {
		got, err := findFiles(dir, protocol.Stream{Name: "s", Files: pattern})
		if err != nil || !slices.Equal(names(got), want) {
			t.Errorf("%s: %v, %v", pattern, names(got), err)
		}
	}
}

func TestFilesThatAreMissingAreNamed(t *testing.T) {
	dir := t.TempDir()
	_, err := findFiles(dir, protocol.Stream{Name: "trips", Files: "*/trips.csv"})
	if !errors.Is(err, ErrNoFiles) || !strings.Contains(err.Error(), "*/trips.csv") || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v", err)
	}
	_, err = findFiles(filepath.Join(dir, "nowhere"), protocol.Stream{Name: "trips", Files: "*/trips.csv"})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
}

// TestFilesAreAskedForBeforeASession: a run without its files opens no session.
func TestFilesAreAskedForBeforeASession(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir = t.TempDir()
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, ErrNoFiles) {
		t.Errorf("got %v", err)
	}
	if f.count("input-1", protocol.Open) > 0 {
		t.Error("a session was opened for nothing")
	}
}

func TestFilesWithAndWithoutGzAreNotCountedTwice(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "trips.csv"), []byte("x\n"))
	write(t, filepath.Join(dir, "trips.csv.gz"), packed(t, []byte("x\n")))
	if _, err := findFiles(dir, protocol.Stream{Name: "trips", Files: "trips.csv"}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(dir, "s.csv.zst"), []byte("x\n"))
	write(t, filepath.Join(dir, "s.csv.bz2"), []byte("x\n"))
	if _, err := findFiles(dir, protocol.Stream{Name: "s", Files: "s.csv"}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("got %v", err)
	}
}

func TestPackedFilesHaveTheirPlainNames(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a/s.csv.gz", "b/s.csv.zst", "c/s.csv.lz4", "d/s.csv.bz2", "e/s.csv"} {
		write(t, filepath.Join(dir, file), []byte("x\n"))
	}
	got, err := findFiles(dir, protocol.Stream{Name: "s", Files: "*/s.csv"})
	if want := []string{"a/s.csv", "b/s.csv", "c/s.csv", "d/s.csv", "e/s.csv"}; err != nil || !slices.Equal(names(got), want) {
		t.Errorf("%v, %v", names(got), err)
	}
}

// TestPatternNeverLeadsOutOfTheDirectory: the pattern comes from the network, so it is not trusted.
func TestPatternNeverLeadsOutOfTheDirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "secret.csv"), []byte("x\n"))
	below := filepath.Join(dir, "below")
	write(t, filepath.Join(below, "a.csv"), []byte("x\n"))
	for _, pattern := range []string{"../secret.csv", "/etc/passwd", "./a.csv", "x/../../secret.csv", "", "a//b", "[", "*/.."} {
		if got, err := findFiles(below, protocol.Stream{Name: "s", Files: pattern}); err == nil || errors.Is(err, ErrNoFiles) {
			t.Errorf("%q: %v, %v", pattern, names(got), err)
		}
	}
}

func runOn(t *testing.T, files map[string][]byte) (*fakeCluster, error) {
	dir := t.TempDir()
	stations, _ := csvFile("stations", 5)
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, cfg.Chunk = dir, 1000
	_, err := Run(during(t, 20*time.Second), cfg)
	return f, err
}

// TestGzipCutShortCancelsTheSession: this holds wherever the file is cut.
func TestGzipCutShortCancelsTheSession(t *testing.T) {
	content, _ := csvFile("trips", 2000)
	z := packed(t, content)
	for _, n := range []int{0, 1, 5, 12, len(z) / 2, len(z) - 9, len(z) - 1} {
		f, err := runOn(t, map[string][]byte{"a/trips.csv.gz": z[:n]})
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "a/trips.csv") {
			t.Errorf("cut after %d of %d bytes: %v", n, len(z), err)
		}
		if got := f.one().dropped["input-1"]; got != protocol.Cancel {
			t.Errorf("cut after %d: the input heard %q", n, got)
		}
	}
}

func TestGzipWithABadChecksum(t *testing.T) {
	content, _ := csvFile("trips", 200)
	z := packed(t, content)
	z[len(z)-5] ^= 1
	if _, err := runOn(t, map[string][]byte{"a/trips.csv.gz": z}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestGzipIsKnownByItsContentAndMayHaveMembers(t *testing.T) {
	content, want := csvFile("trips", 2000)
	half := len(content) / 2
	z := append(packed(t, content[:half]), packed(t, content[half:])...)
	for _, name := range []string{"a/trips.csv", "a/trips.csv.gz"} {
		f, err := runOn(t, map[string][]byte{name: z})
		if err != nil {
			t.Fatal(err)
		}
		_, stations := csvFile("stations", 5)
		f.compare(map[string][]string{"trips a/trips.csv": want, "stations a/stations.csv": stations})
	}
}

func TestFileWithoutRowsSendsNothing(t *testing.T) {
	f, err := runOn(t, map[string][]byte{"a/trips.csv": []byte("id,line\n")})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.one().records["trips a/trips.csv"]) != 0 {
		t.Errorf("rows from nowhere")
	}
}

func TestFileWithoutHeaderIsAnError(t *testing.T) {
	if _, err := runOn(t, map[string][]byte{"a/trips.csv": nil}); !errors.Is(err, csv.ErrHeader) ||
		!strings.Contains(err.Error(), "a/trips.csv") {
		t.Errorf("got %v", err)
	}
}

func TestQuoteThatIsNeverClosed(t *testing.T) {
	content := []byte("id,line\n\"open" + strings.Repeat("x", protocol.MaxData))
	_, err := runOn(t, map[string][]byte{"a/trips.csv": content})
	if !errors.Is(err, csv.ErrRecordTooLong) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}

func TestGroupGivesTheFirstErrorAndEndsTheOthers(t *testing.T) {
	g := newErrGroup(context.Background())
	first := errors.New("first")
	g.run(func(context.Context) error { return first })
	g.run(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	if err := g.wait(); err != first {
		t.Errorf("got %v", err)
	}
}
