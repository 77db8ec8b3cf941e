package client

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol"
)

// findNamedIn names files, for the streams of bikes and one without a star. It returns their names and where they are, without the
// directory.
func findNamedIn(t *testing.T, dir string, named ...Named) ([]string, error) {
	t.Helper()
	for i := range named {
		if named[i].Path != "-" {
			named[i].Path = filepath.Join(dir, named[i].Path)
		}
	}
	in := &Input{Named: named}
	found, err := in.findNamed(t.Context(), append([]protocol.Stream{{Name: "list", Files: "list.csv"},
		{Name: "parts", Files: "*/part-*.csv"}}, bikeStreams...), &warnings{})
	var all []string
	for _, sources := range found {
		for _, s := range sources {
			all = append(all, strings.ReplaceAll(s.Name+" "+s.Path, strings.TrimLeft(dir, "/")+"/", ""))
		}
	}
	return all, err
}

func TestNamedFilesAreGivenTheirPlaces(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"m/trips.csv", "m/2016.jsonl.gz", "m/2017.csv", "m/part-1.csv", "m/part-2.csv.zst", "m/x y=[z].csv"} {
		write(t, filepath.Join(dir, file), []byte("x\n"))
	}
	for want, named := range map[string][]Named{
		"m/trips.csv /m/trips.csv":       {{"trips", "m/trips.csv"}},
		"m/trips.csv /m/2016.jsonl.gz":   {{"trips", "m/2016.jsonl.gz"}},
		"toronto/trips.csv /m/2017.csv":  {{"toronto/trips.csv", "m/2017.csv"}},
		"m/part-1.csv /m/part-1.csv":     {{"parts", "m/part-1.csv"}},
		"m/part-2.csv /m/part-2.csv.zst": {{"parts", "m/part-*.zst"}},
		"list.csv /m/x y=[z].csv":        {{"list", "m/x y=[z].csv"}},
		"m/trips.csv//m/2016.jsonl.gz /m/2016.jsonl.gz|m/trips.csv//m/2017.csv /m/2017.csv": {{"trips", "m/20*"}},
		"list.csv//m/2017.csv /m/2017.csv|list.csv//m/trips.csv /m/trips.csv":               {{"list", "m/trips.csv"}, {"list", "*/2017.csv"}},
		"list.csv standard input":    {{"list", "-"}},
		"m/trips.csv standard input": {{"m/trips.csv", "-"}},
	} {
		got, err := findNamedIn(t, dir, named...)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%v: %q, %v; want %q", named, got, err, want)
		}
	}
}

func TestC1_NamedFilesThatCannotBeMeant(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"m/trips.csv", "trips.csv", "m/a.csv"} {
		write(t, filepath.Join(dir, file), []byte("x\n"))
	}
	for want, named := range map[string][]Named{
		"neither a stream of this analysis":             {{"rides", "m/trips.csv"}},
		"no such file":                                  {{"trips", "m/none.csv"}},
		"nothing matches":                               {{"trips", "m/none*.csv"}},
		"is a directory; name its files with a pattern": {{"trips", "m"}},
		"write it: NAME/trips.csv=-":                    {{"trips", "-"}},
		"what the star stands for":                      {{"parts", "m/a.csv"}},
		"rows would count twice":                        {{"list", "m/a.csv"}, {"list", "m/*.csv"}},
		"can be read once":                              {{"list", "-"}, {"m/trips.csv", "-"}},
	} {
		if got, err := findNamedIn(t, dir, named...); !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q, %v; want %q", named, got, err, want)
		}
	}
	if _, ok := nameOf("*/trips.csv", "trips.csv"); ok {
		t.Error("a star stands for nothing")
	}
	if _, ok := nameOf("*/trips.csv", "../trips.csv"); ok {
		t.Error("a star stands for ..")
	}
}

// TestFilesOverHTTP runs with a packed file that a server gives, and with what it does not give.
func TestFilesOverHTTP(t *testing.T) {
	stations, want := csvFile("stations", 5)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "stations.csv"), stations)
	trips, rides := csvFile("trips", 50)
	lines := packed(t, trips)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a/2016.csv.gz" || r.URL.RawQuery != "key=secret" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(lines)
	}))
	defer s.Close()
	for address, refused := range map[string]string{"/a/2016.csv.gz?key=secret": "", "/a/none.csv?key=secret": "/a/none.csv: it says 404"} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Dir, cfg.Named = dir, []Named{{"trips", s.URL + address}}
		_, err := Run(during(t, 20*time.Second), cfg)
		switch {
		case refused == "" && err == nil:
			f.compare(map[string][]string{"stations a/stations.csv": want, "trips a/trips.csv": rides})
		case refused == "" || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), refused) || strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestStandardInputIsRead, and what waits for more of it is ended by Close.
func TestStandardInputIsRead(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(r.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}()
	in, err := openStdin(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("id\n")); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 10)
	if n, err := in.Read(p); n != 3 || err != nil {
		t.Fatalf("%q, %v", p[:n], err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := in.Read(p)
		ended <- err
	}()
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a read outlives Close")
	}
	if err := in.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
	if _, err := in.Read(p); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	other, err := openStdin(strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(other); string(b) != "text" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
