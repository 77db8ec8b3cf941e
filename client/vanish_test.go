package client

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

var bikeStreams = []protocol.Stream{
	{Name: "stations", Reference: true, Files: "*/stations.csv"},
	{Name: "weather", Reference: true, Files: "*/weather.csv"},
	{Name: "trips", Files: "*/trips.csv"},
}

// found looks for files, and returns the warnings as text without the directory.
func found(t *testing.T, dir string) (told []string, err error) {
	t.Helper()
	w := &warnings{}
	for range 2 { // a run looks twice
		_, err = findAll(tree{dir: dir}, bikeStreams, w)
	}
	for _, one := range w.all() {
		told = append(told, strings.ReplaceAll(one.String(), dir+"/", ""))
	}
	return told, err
}

func TestC1_PlacesThatLackAFileAreNamed(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a/stations.csv", "a/weather.csv", "a/trips.csv", "b/stations.csv.gz", "b/trips.csv", "b/Weather.csv",
		"logs/x.txt", "README.md", "trips.csv", ".git/config"} {
		write(t, filepath.Join(dir, file), []byte("x\n"))
	}
	told, err := found(t, dir)
	want := []string{
		"b/Weather.csv: this file is not read: files are looked for as */weather.csv; move or rename it",
		"trips.csv: this file is not read: files are looked for as */trips.csv; move or rename it",
		"b: there is no weather.csv here, packed or plain, but there is one in a directory beside this one; its rows will be missing",
		"logs: this directory holds no stations.csv, no weather.csv, no trips.csv, and is skipped",
	}
	if err != nil || !slices.Equal(told, want) {
		t.Errorf("%v, %s", err, strings.Join(told, "\n"))
	}
}

func TestC1_FilesThatCannotBeMeantAreErrors(t *testing.T) {
	for make, want := range map[string]string{
		"b/trips.csv/part-0.csv": "b/trips.csv is a directory",
		"b/trips.csv.xz":         "b/trips.csv.xz is packed with xz; gzip, zstd, lz4 and bzip2 are read: xz -dc",
		"b/trips.csv.lzma":       "lzma -dc", "b/trips.csv.tar.gz": "tar -xzOf", "b/trips.csv.br": "Brotli", "b/trips.csv.zip": "ZIP",
		"b/trips.csv.gz/x": "b/trips.csv.gz is a directory",
	} {
		for _, alone := range []bool{true, false} {
			dir := t.TempDir()
			for _, file := range []string{"a/stations.csv", "a/weather.csv", "b/stations.csv", "b/weather.csv"} {
				write(t, filepath.Join(dir, file), []byte("x\n"))
			}
			if !alone {
				write(t, filepath.Join(dir, "a/trips.csv"), []byte("x\n"))
			}
			write(t, filepath.Join(dir, make), []byte("x\n"))
			if _, err := found(t, dir); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", make, err)
			}
		}
	}
}

func TestC1_PackedFileBesideAPlainOneIsNoError(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"a/stations.csv", "a/weather.csv.gz", "a/weather.csv.xz", "a/trips.csv", "a/trips.csv.zip"} {
		write(t, filepath.Join(dir, file), []byte("x\n"))
	}
	if told, err := found(t, dir); err != nil || len(told) > 0 {
		t.Errorf("%v, %v", told, err)
	}
}

// sent runs with one file of trips, and returns the warnings.
func sent(t *testing.T, content []byte, change func(*Config)) ([]Warning, error) {
	t.Helper()
	dir := t.TempDir()
	stations, _ := csvFile("stations", 5)
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	write(t, filepath.Join(dir, "a", "trips.csv"), content)
	cfg := newFakeCluster(t, 1, 1).config()
	cfg.Dir = dir
	var told []Warning
	cfg.OnWarning = func(w Warning) { told = append(told, w) }
	if change != nil {
		change(&cfg)
	}
	answer, err := Run(during(t, 20*time.Second), cfg)
	if err == nil && !slices.Equal(answer.Warnings, told) {
		t.Errorf("the answer has %v, told were %v", answer.Warnings, told)
	}
	return told, err
}

func TestC1_FileWithoutRowsIsNamed(t *testing.T) {
	for _, content := range []string{"id,line\n", "id,line"} {
		told, err := sent(t, []byte(content), nil)
		if err != nil || len(told) != 1 || !strings.HasSuffix(told[0].Path, "/a/trips.csv") || !strings.Contains(told[0].Text, "no rows") {
			t.Errorf("%q: %v, %v", content, told, err)
		}
	}
}

func TestC1_ContentThatIsNotUnderstoodIsBadInput(t *testing.T) {
	for content, want := range map[string]string{
		"": "is empty", "\xff\xfei\x00d": "ends in the middle", "\xff\xfe\x00\x00i\x00\x00\x00": "UTF-32", "\x1e;lid;line": "0x1e",
		"\x28\xb5\x2f\xfd\x00": "cut short", "PK\x03\x04\x00": "ZIP", "BZh91AY": "cut short", "PAR1": "not CSV",
	} {
		_, err := sent(t, []byte(content), nil)
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "/a/trips.csv") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
	no := errors.New("no such column")
	_, err := sent(t, []byte("id,line\n1,2\n"), func(cfg *Config) {
		cfg.Inspect = func(stream, file string, header []byte) (func([]byte, uint64) error, error) {
			if stream != "trips" {
				return nil, nil
			}
			if file != "a/trips.csv" || string(header) != "id,line" {
				t.Errorf("asked about %q of %s", header, file)
			}
			return nil, no
		}
	})
	if !errors.Is(err, no) || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "/a/trips.csv") {
		t.Errorf("got %v", err)
	}
}

// What looks at chunks sees all of them, each before it is sent, and ends the run with an error of its own.
func TestC1_ChunksAreInspectedBeforeTheyAreSent(t *testing.T) {
	content, _ := csvFile("trips", 2000)
	bad := errors.New("a bad row")
	var seen []byte
	inspect := func(after int) func(cfg *Config) {
		seen = nil
		return func(cfg *Config) {
			cfg.Chunk = 1000
			cfg.Inspect = func(stream, _ string, _ []byte) (func([]byte, uint64) error, error) {
				if stream != "trips" {
					return nil, nil
				}
				return func(chunk []byte, line uint64) error {
					if want := uint64(strings.Count(string(seen), "\n") + 2); line != want {
						t.Errorf("a chunk begins in line %d, want %d", line, want)
					}
					if seen = append(seen, chunk...); len(seen) > after {
						return bad
					}
					return nil
				}, nil
			}
		}
	}
	if _, err := sent(t, content, inspect(len(content))); err != nil || string(content[len("id,line\n"):]) != string(seen) {
		t.Errorf("%v; %d bytes were seen, the file has %d", err, len(seen), len(content))
	}
	if _, err := sent(t, content, inspect(5000)); !errors.Is(err, bad) || !errors.Is(err, ErrInput) {
		t.Errorf("got %v", err)
	}
}

func TestC1_CarriageReturnsAreSentAsLineFeeds(t *testing.T) {
	content, want := csvFile("trips", 300)
	content = []byte(strings.ReplaceAll(strings.ReplaceAll(string(content), "\\\n", "\\x"), "\n", "\r"))
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "\\\n", "\\x")
	}
	c := csv.NewCutter(strings.NewReader(string(content)), ',', 1000, 1<<20)
	var rows int
	for {
		chunk, _, err := c.Next(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += strings.Count(string(chunk), "\n")
	}
	if rows != len(want) {
		t.Errorf("%d rows of %d", rows, len(want))
	}
}

// A file that gets shorter, or is written to, while it is read.
func TestC1_FileThatChangesWhileItIsRead(t *testing.T) {
	content := []byte("id,line\n" + strings.Repeat("1,2\n", 1000))
	for name, size := range map[string]int64{"became shorter": 100, "was changed": int64(len(content)) + 10} {
		file := filepath.Join(t.TempDir(), "trips.csv")
		write(t, file, content)
		w := &warnings{}
		f, err := openFile(file, w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, f)
		text := ""
		if err != nil {
			text = err.Error()
		}
		for _, one := range w.all() {
			text += one.String()
		}
		if !strings.Contains(text, file) || !strings.Contains(text, name) || (err != nil) != (size < int64(len(content))) {
			t.Errorf("%d bytes: %v, %v", size, err, w.all())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func fifo(t *testing.T) (dir, name string) {
	t.Helper()
	dir = t.TempDir()
	stations, _ := csvFile("stations", 5)
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	name = filepath.Join(dir, "a", "trips.csv")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, name
}

// Nobody opens the pipe for writing: the deadline and Ctrl-C hold nevertheless, and the user is told what is waited for.
func TestC1_PipeWithoutAWriter(t *testing.T) {
	dir, name := fifo(t)
	cfg := newFakeCluster(t, 1, 1).config()
	cfg.Dir = dir
	ctx, cancel := context.WithCancelCause(during(t, 30*time.Second))
	defer cancel(nil)
	interrupted := errors.New("interrupted")
	var told []Warning
	cfg.OnWarning = func(w Warning) {
		told = append(told, w)
		cancel(interrupted)
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, interrupted) {
		t.Errorf("got %v", err)
	}
	if len(told) != 1 || told[0].Path != name || !strings.Contains(told[0].Text, "nobody writes to this pipe") {
		t.Errorf("told %v", told)
	}
}

func TestPipeWithALateWriterIsReadToItsEnd(t *testing.T) {
	dir, name := fifo(t)
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir = dir
	content, want := csvFile("trips", 3000)
	wrote := make(chan error, 1)
	go func() {
		time.Sleep(100 * time.Millisecond)
		w, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err == nil {
			time.Sleep(100 * time.Millisecond) // open and silent
			_, err = w.Write(content)
			err = errors.Join(err, w.Close())
		}
		wrote <- err
	}()
	if _, err := Run(during(t, 30*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	_, stations := csvFile("stations", 5)
	f.compare(map[string][]string{"trips a/trips.csv": want, "stations a/stations.csv": stations})
}

// A writer that comes and goes without a word has written an empty file.
func TestPipeWithAWriterThatWritesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("elsewhere a pipe without a writer is at its end at once")
		return
	}
	_, name := fifo(t)
	f, err := openFile(name, &warnings{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(50 * time.Millisecond)
		if w, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			_ = w.Close()
		}
	}()
	if n, err := f.Read(make([]byte, 10)); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
