package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// diesAfter runs a client that dies as the cluster hears a request of a kind for the n-th time: with or without having taken it. It says no
// more than a process that was killed.
func (f *fakeCluster) diesAfter(cfg Config, kind protocol.RequestType, n int, taken bool) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(during(f.t, 30*time.Second))
	defer cancel()
	heards, dead, token := 0, false, session.Token{}
	var mu sync.Mutex // nodes ask from goroutines of their own
	f.setFault(func(h heard) fault {
		mu.Lock()
		defer mu.Unlock()
		if h.request.Token != (session.Token{}) && token == (session.Token{}) {
			token = h.request.Token
		}
		if dead { // what is still on its way is lost, even if others come
			return fault{deaf: h.request.Token == token}
		}
		if h.request.Type != kind {
			return fault{}
		}
		if heards++; heards < n {
			return fault{}
		}
		dead = true
		cancel()
		return fault{deaf: !taken, mute: true}
	})
	c, err := Dial(ctx, cfg)
	if err == nil {
		if err = c.Open(ctx); err == nil {
			err = c.Upload(ctx)
		}
		err = errors.Join(err, c.Close())
	}
	if ctx.Err() == nil && err != nil {
		f.t.Fatalf("the client ends before it dies: %v", err)
	}
}

func (f *fakeCluster) setFault(fault func(heard) fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// copied is the same data on another machine: at other paths, written at other times.
func copied(t *testing.T, dir string, age time.Duration) string {
	t.Helper()
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(other, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.Chtimes(file, time.Time{}, time.Unix(1e9, 0).Add(age)); err != nil {
			t.Fatal(err)
		}
	}
	return other
}

// TestR17_AnUploadIsResumedAnywhere: clients die at any chunk or end, one after the other, each with chunks and lanes of its own, and a
// copy of the files that has other paths and times. The last one sends what is left: every record arrives once, with its line.
func TestR17_AnUploadIsResumedAnywhere(t *testing.T) {
	dir, want := dataDir(t, 300)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			f := newFakeCluster(t, 1+int(seed%3), 1)
			cfg := func() Config {
				c := f.config()
				c.Dir, c.Chunk, c.Lanes, c.Session = copied(t, dir, time.Duration(r.Int64N(1e17))), 200+r.IntN(3000), 1+r.IntN(6), session.ID{1}
				return c
			}
			first := cfg()
			first.Session = session.ID{1}
			f.diesAfter(first, protocol.Chunk, 1+r.IntN(10), r.IntN(2) == 0)
			for range r.IntN(4) {
				next := cfg()
				next.Resume = true
				kind := []protocol.RequestType{protocol.Chunk, protocol.Chunk, protocol.Open, protocol.End}[r.IntN(4)]
				f.diesAfter(next, kind, 1+r.IntN(6), r.IntN(2) == 0)
			}
			last := cfg()
			last.Resume, last.KeepResults = true, true
			answer, err := Run(during(t, 30*time.Second), last)
			if err != nil || answer == nil {
				t.Fatal(err)
			}
			f.compare(want)
		})
	}
}

// TestR17_OtherFilesAreNotSent: nothing of other files is sent, the session is neither cancelled nor closed, and continues with the right
// ones.
func TestR17_OtherFilesAreNotSent(t *testing.T) {
	dir, want := dataDir(t, 300)
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, cfg.Chunk, cfg.Session = dir, 700, session.ID{1}
	cfg.Lanes = 2 // one for each input: all but two of the chunks before the last one were taken
	f.diesAfter(cfg, protocol.Chunk, 20, true)
	settle := cfg // another client that opens the session at every input: what the first one had under way was taken, or never is
	settle.Resume = true
	c, err := Dial(during(t, 20*time.Second), settle)
	if err == nil {
		err = errors.Join(c.Open(during(t, 20*time.Second)), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	before := f.one().bytes
	for name, change := range map[string]func(file string, content []byte) (string, []byte){
		"a digit": func(file string, b []byte) (string, []byte) {
			return file, bytes.Replace(b, []byte(" 0,"), []byte(" 9,"), 1)
		},
		"a header": func(file string, b []byte) (string, []byte) {
			return file, bytes.Replace(b, []byte("id,line"), []byte("di,line"), 1)
		},
		"a row less": func(file string, b []byte) (string, []byte) {
			return file, bytes.Replace(b, []byte("montrealstations 1,3\n"), nil, 1)
		},
		"a row more": func(file string, b []byte) (string, []byte) {
			if strings.HasSuffix(file, "stations.csv") { // that stream has ended
				b = append(b, "one more,99\n"...)
			}
			return file, b
		},
		"cut short": func(file string, b []byte) (string, []byte) { // seen by its size, before anything of any file is compared
			if strings.HasSuffix(file, "montreal/trips.csv") {
				b = b[:bytes.IndexByte(b, '\n')+1]
			}
			return file, b
		},
		"a file less": func(file string, b []byte) (string, []byte) { return strings.Replace(file, "montreal", "moscow", 1), b },
	} {
		other := t.TempDir()
		for key := range want {
			_, file, _ := strings.Cut(key, " ")
			content, err := os.ReadFile(filepath.Join(dir, file))
			if errors.Is(err, os.ErrNotExist) {
				file += ".gz"
				content, err = os.ReadFile(filepath.Join(dir, file))
			}
			if err != nil {
				t.Fatal(err)
			}
			file, content = change(file, content)
			write(t, filepath.Join(other, file), content)
		}
		cfg := cfg
		cfg.Dir, cfg.Resume = other, true
		_, err := Run(during(t, 20*time.Second), cfg)
		if !errors.Is(err, ErrOtherFiles) || !errors.Is(err, ErrInput) || LeavesOurs(err) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "cut short" && !strings.Contains(err.Error(), "montreal/trips.csv has 0 bytes of records") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := f.one()
	if s.bytes != before || len(s.dropped) > 0 {
		t.Fatalf("%d bytes were taken before, and %d now; said to the nodes: %v", before, s.bytes, s.dropped)
	}
	cfg.Resume = true
	if _, err := Run(during(t, 20*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	f.compare(want)
}

// TestR17_WhatCannotBeResumed: each case in words, and nothing changes.
func TestR17_WhatCannotBeResumed(t *testing.T) {
	dir, _ := dataDir(t, 30)
	for name, c := range map[string]struct {
		begun   bool
		prepare func(*fakeCluster, *Config)
		is      error
		says    string
	}{
		"no such session":     {false, nil, protocol.ErrUnknownSession, "without --resume a new one is begun"},
		"no id":               {false, func(_ *fakeCluster, c *Config) { c.Session = session.ID{} }, ErrConfig, "no session to resume"},
		"another analysis":    {true, func(_ *fakeCluster, c *Config) { c.Analysis = "flights" }, protocol.ErrUnknownAnalysis, ""},
		"files that are gone": {true, func(_ *fakeCluster, c *Config) { c.Dir = t.TempDir() }, ErrNoFiles, ""},
		"standard input": {true, func(_ *fakeCluster, c *Config) { c.Named = []Named{{"montreal/trips.csv", "-"}} }, ErrInput,
			"standard input cannot be read twice"},
		"nobody knows what was taken": {true, func(f *fakeCluster, c *Config) { f.one().taken["input-1"].GiveUp() }, ErrInterrupted,
			"it is not known what was taken at tcp://"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeCluster(t, 2, 1)
			cfg := f.config()
			cfg.Dir, cfg.Session, cfg.Stdin = dir, session.ID{1}, io.LimitReader(strings.NewReader(""), 0)
			if c.begun {
				cfg.Chunk = 100
				cfg.Lanes = 2
				f.diesAfter(cfg, protocol.Chunk, 5, true)
			}
			cfg.Resume = true
			if c.prepare != nil {
				c.prepare(f, &cfg)
			}
			_, err := Run(during(t, 20*time.Second), cfg)
			if !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Fatal(err)
			}
			for _, s := range f.sessions {
				if len(s.dropped) > 0 {
					t.Errorf("the session is given up: %v", s.dropped)
				}
			}
		})
	}
}
