package e2e

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// gate stops a client in the middle of its facts, so that a test can act at that point, whatever the speed of the machine.
type gate struct {
	after int64 // bytes of each file of facts that pass first
	open  chan struct{}
}

func newGate(after int64) *gate { return &gate{after, make(chan struct{})} }

// through finds the files in dir as the client does, and puts the gate into those of facts.
func (g *gate) through(dir string) func(protocol.Stream) ([]client.Source, error) {
	return sources(dir, func(s protocol.Stream, f io.ReadCloser) io.ReadCloser {
		if s.Reference {
			return f
		}
		return &gated{ReadCloser: f, gate: g, closed: make(chan struct{})}
	})
}

type gated struct {
	io.ReadCloser
	gate   *gate
	read   int64
	closed chan struct{}
}

// Close ends a Read that waits, as closing a pipe does.
func (g *gated) Close() error {
	close(g.closed)
	return g.ReadCloser.Close()
}

func (g *gated) Read(p []byte) (int, error) {
	left := g.gate.after - g.read
	if left <= 0 {
		select {
		case <-g.gate.open:
		case <-g.closed:
			return 0, os.ErrClosed
		}
	} else if int64(len(p)) > left {
		p = p[:left]
	}
	n, err := g.ReadCloser.Read(p)
	g.read += int64(n)
	return n, err
}

// slowly finds the files in dir and lets facts through at the given rate in bytes per second and file.
func slowly(dir string, bytesPerSecond int64) func(protocol.Stream) ([]client.Source, error) {
	return slowlyUntil(dir, bytesPerSecond, nil)
}

// slowlyUntil lets facts through at full speed once enough is closed. No file of facts ends before that, so the session cannot end either,
// however long the rest of the test takes.
func slowlyUntil(dir string, bytesPerSecond int64, enough <-chan struct{}) func(protocol.Stream) ([]client.Source, error) {
	return sources(dir, func(s protocol.Stream, f io.ReadCloser) io.ReadCloser {
		if s.Reference {
			return f
		}
		return &throttled{ReadCloser: f, rate: bytesPerSecond, enough: enough, closed: make(chan struct{})}
	})
}

type throttled struct {
	io.ReadCloser
	rate   int64
	enough <-chan struct{}
	closed chan struct{}
}

// Close ends a Read that waits, as closing a pipe does.
func (s *throttled) Close() error {
	close(s.closed)
	return s.ReadCloser.Close()
}

func (s *throttled) Read(p []byte) (int, error) {
	const piece = 20 * time.Millisecond
	select {
	case <-s.enough:
		return s.ReadCloser.Read(p)
	default:
	}
	time.Sleep(piece)
	n, err := s.ReadCloser.Read(p[:min(int64(len(p)), max(1, s.rate*int64(piece)/int64(time.Second)))])
	if errors.Is(err, io.EOF) && s.enough != nil {
		select {
		case <-s.enough:
		case <-s.closed:
			return n, os.ErrClosed
		}
	}
	return n, err
}

// sources finds the files of a stream in dir and replaces each by what wrap returns.
func sources(dir string, wrap func(protocol.Stream, io.ReadCloser) io.ReadCloser) func(protocol.Stream) ([]client.Source, error) {
	return func(s protocol.Stream) ([]client.Source, error) {
		paths, err := filepath.Glob(filepath.Join(dir, s.Files))
		if err != nil {
			return nil, err
		}
		var all []client.Source
		for _, path := range paths {
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return nil, err
			}
			all = append(all, client.Source{Name: filepath.ToSlash(name), Size: -1, Open: func(context.Context) (io.ReadCloser, error) {
				f, err := os.Open(path)
				if err != nil {
					return nil, err
				}
				return wrap(s, f), nil
			}})
		}
		return all, nil
	}
}

// write puts files into a directory of their own.
func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// town returns a small correct city that tests of single rows change.
func town(trips ...string) map[string]string {
	return map[string]string{
		"montreal/weather.csv":  "date,prectot\n2017-06-02,40.0\n2017-06-03,0.0\n",
		"montreal/stations.csv": "code,name,latitude,longitude,yearid\n1,First,45.5,-73.6,2017\n2,Second,45.6,-73.7,2017\n",
		"montreal/trips.csv": strings.Join(append([]string{
			"start_date,start_station_code,end_date,end_station_code,duration_sec,is_member,yearid",
			"2017-06-01 08:00:00,1,2017-06-01 08:10:00,2,600.0,1,2017",
		}, trips...), "\n") + "\n",
	}
}
