package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// csvFile makes a file of records that say in which line they are; every 7th has a line end within quotes.
func csvFile(name string, records int) (content []byte, want []string) {
	var b bytes.Buffer
	b.WriteString("id,line\n")
	line := 2
	for i := range records {
		if i%7 == 3 {
			fmt.Fprintf(&b, "\"%s %d, \"\"two\"\"\\\nlines\",%d\n", name, i, line)
			want = append(want, fmt.Sprintf("\"%s %d, \"\"two\"\"\\lines\",%d", name, i, line))
			line += 2
			continue
		}
		fmt.Fprintf(&b, "%s %d,%d\n", name, i, line)
		want = append(want, fmt.Sprintf("%s %d,%d", name, i, line))
		line++
	}
	return b.Bytes(), want
}

// dataDir writes the files of two cities and returns what must arrive, by stream and file.
func dataDir(t testing.TB, records int) (string, map[string][]string) {
	dir, want := t.TempDir(), make(map[string][]string)
	for _, city := range []string{"montreal", "toronto"} {
		for name, n := range map[string]int{"stations": records / 10, "trips": records} {
			content, rows := csvFile(city+name, n)
			file := filepath.Join(dir, city, name+".csv")
			if city == "toronto" && name == "trips" {
				file, content = file+".gz", packed(t, content)
			}
			write(t, file, content)
			want[name+" "+city+"/"+name+".csv"] = rows
		}
	}
	return dir, want
}

func packed(t testing.TB, content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t testing.TB, file string, content []byte) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare says what arrived too often or not at all.
func (f *fakeCluster) compare(want map[string][]string) {
	f.t.Helper()
	s := f.one()
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, rows := range want {
		got := slices.Clone(s.records[key])
		slices.Sort(got)
		rows = slices.Sorted(slices.Values(rows))
		if !slices.Equal(got, rows) {
			f.t.Errorf("%s: %d records arrived, %d were sent; equal they are not", key, len(got), len(rows))
		}
	}
	if len(s.records) != len(want) {
		f.t.Errorf("%d files arrived, %d were sent", len(s.records), len(want))
	}
}

// one in n, the same ones whatever the timing: chosen by what is said, not by when.
func oneIn(n uint32, h heard) bool {
	sum := fnv.New32a()
	fmt.Fprint(sum, h.node, h.request.Type, h.request.Stream, h.request.Lane, h.request.Seq, h.request.After)
	return sum.Sum32()%n == 0
}

// TestEveryRecordArrivesOnce runs the whole client against clusters with all sorts of faults.
func TestEveryRecordArrivesOnce(t *testing.T) {
	type world struct {
		inputs, outputs int
		prepare         func(*fakeCluster, *Config)
	}
	for name, w := range map[string]world{
		"nothing goes wrong":                    {1, 1, nil},
		"three inputs, two outputs, five lanes": {3, 2, func(_ *fakeCluster, c *Config) { c.Lanes = 5 }},
		"one record a chunk":                    {2, 1, func(_ *fakeCluster, c *Config) { c.Chunk, c.Lanes = 1, 16 }},
		"lost requests and replies": {2, 2, func(f *fakeCluster, c *Config) {
			c.Chunk = 500
			f.fault = func(h heard) fault {
				hit := h.before == 0 && oneIn(6, h)
				return fault{deaf: hit && h.request.Seq%2 == 0, mute: hit}
			}
		}},
		"every first reply of open, end, info, results is lost": {2, 2, func(f *fakeCluster, c *Config) {
			f.fault = func(h heard) fault {
				return fault{mute: h.before == 0 && h.request.Type != protocol.Chunk && h.request.Type != protocol.Ping}
			}
		}},
		"late replies": {2, 1, func(f *fakeCluster, c *Config) {
			c.Chunk = 2000
			f.fault = func(h heard) fault {
				if h.before < 2 && oneIn(4, h) {
					return fault{delay: 200 * time.Millisecond}
				}
				return fault{}
			}
		}},
		"replies that come twice": {2, 1, func(f *fakeCluster, c *Config) {
			c.Chunk = 2000
			f.fault = func(h heard) fault { return fault{twice: h.before == 0 && oneIn(3, h)} }
		}},
		"busy at first": {2, 1, func(f *fakeCluster, c *Config) { f.busy = 4 }},
		"a silent entry first": {1, 1, func(f *fakeCluster, c *Config) {
			c.Entries = append([]string{silentEndpoint(f.t)}, c.Entries...)
		}},
		"a dead entry first": {1, 1, func(f *fakeCluster, c *Config) {
			c.Entries = append([]string{"tcp://127.0.0.1:1"}, c.Entries...)
		}},
		"the entry is an output": {2, 1, func(f *fakeCluster, c *Config) { c.Entries = []string{f.outputs[0].endpoint} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t, w.inputs, w.outputs)
			dir, want := dataDir(t, 700)
			cfg := f.config()
			cfg.Dir = dir
			if w.prepare != nil {
				w.prepare(f, &cfg)
			}
			answer, err := Run(during(t, 30*time.Second), cfg)
			if err != nil {
				t.Fatal(err)
			}
			f.compare(want)
			checkAnswer(t, answer, want)
			for i, s := range answer.Streams {
				if s.Name != fakeStreams[i].Name || s.Files != 2 || s.Read == 0 || !s.Ended || s.Took <= 0 {
					t.Errorf("stream %d was uploaded as %+v", i, s)
				}
			}
			if len(answer.Streams) != len(fakeStreams) {
				t.Errorf("the answer names %d streams", len(answer.Streams))
			}
			for _, n := range append(f.inputs, f.outputs...) {
				if got := f.one().dropped[n.name]; got != protocol.Close {
					t.Errorf("%s heard %q at the end, not close", n.name, got)
				}
			}
		})
	}
}

func checkAnswer(t *testing.T, a *Answer, want map[string][]string) {
	t.Helper()
	n := int64(0)
	numbers := a.Query("numbers")
	for row := range numbers.All() {
		if row[0].Int != n {
			t.Fatalf("row %d of numbers is %d", n, row[0].Int)
		}
		n++
	}
	if n != 1000 || numbers.Len() != 1000 {
		t.Errorf("%d rows of numbers, Len says %d", n, numbers.Len())
	}
	records := int64(0)
	for _, rows := range want {
		records += int64(len(rows))
	}
	for row := range a.Query("counts").All() {
		records -= row[1].Int
	}
	if records != 0 {
		t.Errorf("the cluster counts %d records less than there are", records)
	}
	if len(a.Rejected) != 1 || a.Rejected[0].First[0].Line != 3 {
		t.Errorf("rejected: %+v", a.Rejected)
	}
}

// TestRestartsInTheMiddle stops and starts an input while chunks come, and an output between two parts.
func TestRestartsInTheMiddle(t *testing.T) {
	f := newFakeCluster(t, 2, 2)
	dir, want := dataDir(t, 2000)
	cfg := f.config()
	cfg.Dir, cfg.Chunk = dir, 1000
	again := make(chan *fakeNode, 2)
	var input, output sync.Once
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk && h.node == "input-2" && h.request.Seq == 5 {
			input.Do(func() { again <- f.inputs[1] })
		}
		if h.request.Type == protocol.Results && h.request.After >= 4 {
			output.Do(func() { again <- f.outputs[0] })
		}
		return fault{}
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		(<-again).restart()
		(<-again).restart()
	}()
	answer, err := Run(during(t, 30*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	f.compare(want)
	checkAnswer(t, answer, want)
}

// TestOutputThatFallsSilentIsReplaced: the second output cuts its parts at other places; rows still come once.
func TestOutputThatFallsSilentIsReplaced(t *testing.T) {
	f := newFakeCluster(t, 1, 2)
	dir, want := dataDir(t, 50)
	cfg := f.config()
	cfg.Dir = dir
	f.fault = func(h heard) fault {
		return fault{deaf: h.node == "output-1" && h.request.Type == protocol.Results && h.request.After >= 4}
	}
	seen, lasts := 0, 0
	cfg.OnRows = func(query string, columns []string, rows protocol.Rows, last bool) error {
		if query == "numbers" {
			for row := range rows.All() {
				if row[0].Int != int64(seen) {
					t.Errorf("row %d is %d", seen, row[0].Int)
				}
				seen++
			}
		}
		if last {
			lasts++
		}
		return nil
	}
	answer, err := Run(during(t, 20*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, answer, want)
	if seen != 1000 || lasts != 2 {
		t.Errorf("OnRows saw %d rows and %d ends", seen, lasts)
	}
	if f.count("output-2", protocol.Results) == 0 {
		t.Error("nobody asked the other output")
	}
}

func TestBusyIsReturnedWhenTheCallerDoesNotWait(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	f.busy = 1
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	cfg.NoWait = true
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrBusy) {
		t.Errorf("got %v", err)
	}
	if f.count("input-2", protocol.Open) > 0 {
		t.Error("asked the second input after the first was busy")
	}
}

func TestClusterThatIsNotThere(t *testing.T) {
	silent := silentEndpoint(t)
	started := time.Now()
	_, err := Run(context.Background(), Config{Entries: []string{silent}, Analysis: "bikes", Timeout: 50 * time.Millisecond,
		GiveUpAfter: 300 * time.Millisecond})
	if !errors.Is(err, ErrNoCluster) || !strings.Contains(err.Error(), silent) || !strings.Contains(err.Error(), "posta up") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(started); took < 300*time.Millisecond || took > time.Minute {
		t.Errorf("gave up after %v", took)
	}
}

// TestClusterThatDiesLater: patience counts from the last answer of anything.
func TestClusterThatDiesLater(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	cfg.Chunk, cfg.GiveUpAfter, cfg.Timeout = 500, 400*time.Millisecond, 50*time.Millisecond
	var dead atomic.Bool
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk && h.request.Seq == 3 {
			dead.Store(true)
		}
		return fault{deaf: dead.Load()}
	}
	if _, err := Run(during(t, 20*time.Second), cfg); !errors.Is(err, ErrNoCluster) {
		t.Errorf("got %v", err)
	}
}

// TestFailedSessionIsReported, while uploading (a ping tells) and afterwards (the results do).
func TestFailedSessionIsReported(t *testing.T) {
	for _, when := range []protocol.RequestType{protocol.Chunk, protocol.Results} {
		t.Run(string(when), func(t *testing.T) {
			f := newFakeCluster(t, 2, 1)
			cfg := f.config()
			cfg.Dir, _ = dataDir(t, 100)
			cfg.Chunk = 500
			f.fault = func(h heard) fault {
				if h.request.Type == when {
					f.mu.Lock()
					f.fail = "stage joiner: station 7 is on fire"
					f.mu.Unlock()
					return fault{deaf: when == protocol.Chunk}
				}
				return fault{}
			}
			_, err := Run(during(t, 20*time.Second), cfg)
			if !errors.Is(err, protocol.ErrFailed) || !strings.Contains(err.Error(), "station 7 is on fire") {
				t.Errorf("got %v", err)
			}
			if f.one().dropped["output-1"] == "" {
				t.Error("the session was left in the cluster")
			}
		})
	}
}

// TestCtrlC: cancel reaches every node, also when an input hangs, and Run returns soon.
func TestCtrlC(t *testing.T) {
	f := newFakeCluster(t, 3, 2)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	cfg.Chunk = 500
	ctx, cancel := context.WithCancel(during(t, 20*time.Second))
	defer cancel()
	f.fault = func(h heard) fault {
		hangs := h.node == "input-3" && h.request.Type == protocol.Chunk
		if hangs && h.before == 1 {
			cancel()
		}
		return fault{deaf: hangs}
	}
	_, err := Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, n := range append(f.inputs, f.outputs...) {
		if got := f.one().dropped[n.name]; got != protocol.Cancel {
			t.Errorf("%s heard %q, not cancel", n.name, got)
		}
	}
}

// TestCtrlCDuringTheFirstOpen: the answer is under way, and the id is the user's. The session is cancelled where it may be open; it would keep its
// slot until limits.client_timeout. With a token that an earlier run may have opened it with, it is left to that run (R17).
func TestCtrlCDuringTheFirstOpen(t *testing.T) {
	for token, want := range map[session.Token]protocol.RequestType{{}: protocol.Cancel, {1}: ""} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Session, cfg.Token = session.New(), token
		cfg.Dir, _ = dataDir(t, 500)
		ctx, cancel := context.WithCancel(during(t, 20*time.Second))
		defer cancel()
		f.fault = func(h heard) fault {
			opens := h.request.Type == protocol.Open
			if opens && h.before == 1 {
				cancel()
			}
			return fault{mute: opens}
		}
		if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if got := f.one().dropped["input-1"]; got != want {
			t.Errorf("with token %v the input heard %q, not %q", token, got, want)
		}
	}
}

// TestCtrlCWithADeadClusterReturns: nothing answers any more, and what the client still has to say is given up after core.EndTimeout. Without that the
// test would not end.
func TestCtrlCWithADeadClusterReturns(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	ctx, cancel := context.WithCancel(during(t, 20*time.Second))
	defer cancel()
	var dead atomic.Bool
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk {
			dead.Store(true)
			cancel()
		}
		return fault{deaf: dead.Load()}
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestHeldBackIsNotAnError: the cluster takes long over one chunk; the client repeats itself and says so.
func TestHeldBackIsNotAnError(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	var want map[string][]string
	cfg.Dir, want = dataDir(t, 100)
	cfg.Timeout, cfg.Chunk = 50*time.Millisecond, 1000
	f.fault = func(h heard) fault {
		return fault{deaf: h.request.Stream == "trips" && h.request.Line == 2 && h.before < 12} // a file's first
	}
	held, finished := false, false
	cfg.OnProgress = func(p Progress) {
		held = held || p.HeldBack && len(p.Silent) == 0 && p.Retries > 0
		finished = p.State == Finished && p.Streams[1].Ended && p.Streams[1].Read == p.Streams[1].Total
	}
	if _, err := Run(during(t, 20*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	f.compare(want)
	if !held || !finished {
		t.Errorf("progress said held back: %t, finished at the end: %t", held, finished)
	}
}

// TestSilentInputIsNamed: one input is dead for a while, the other goes on.
func TestSilentInputIsNamed(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	var want map[string][]string
	cfg.Dir, want = dataDir(t, 2000)
	cfg.Timeout, cfg.Chunk, cfg.GiveUpAfter = 50*time.Millisecond, 1000, 2*time.Second
	var dead atomic.Bool
	var named atomic.Bool
	f.fault = func(h heard) fault {
		if h.node != "input-2" {
			return fault{}
		}
		if h.request.Type == protocol.Chunk && h.request.Seq == 3 && !named.Load() {
			dead.Store(true)
		}
		return fault{deaf: dead.Load()}
	}
	cfg.OnProgress = func(p Progress) {
		if slices.Equal(p.Silent, []string{f.inputs[1].endpoint}) {
			named.Store(true)
			dead.Store(false)
		}
	}
	if _, err := Run(during(t, 20*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	f.compare(want)
	if !named.Load() {
		t.Error("progress never named the silent input")
	}
}

// TestSessionIsTakenUpAfterItsUpload: the same id goes straight to the results, without files.
func TestSessionIsTakenUpAfterItsUpload(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	var want map[string][]string
	cfg.Dir, want = dataDir(t, 100)
	cfg.Session, cfg.Token, cfg.KeepResults = session.New(), session.NewToken(), true
	if _, err := Run(during(t, 20*time.Second), cfg); err != nil {
		t.Fatal(err)
	}
	if len(f.one().dropped) > 0 {
		t.Errorf("KeepResults, and yet: %v", f.one().dropped)
	}
	chunks := f.count("input-1", protocol.Chunk)
	cfg.Dir, cfg.KeepResults = t.TempDir(), false
	answer, err := Run(during(t, 20*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, answer, want)
	if f.count("input-1", protocol.Chunk) != chunks {
		t.Error("chunks were sent again")
	}
}

func TestInterruptedUploadIsNotContinued(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 100)
	cfg.Session, cfg.Token = session.New(), session.NewToken()
	c, err := Dial(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := during(t, 10*time.Second)
	if err := c.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := RequestOnce(ctx, nil, f.inputs[0].endpoint, protocol.Request{Type: protocol.Chunk, Session: cfg.Session, Token: cfg.Token, Stream: "stations",
		Seq: 1, File: "a/stations.csv", Line: 2, Header: []byte("id,line"), Data: []byte("x,2\n")}, time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	if len(f.one().dropped) > 0 {
		t.Errorf("another run's session was dropped: %v", f.one().dropped)
	}
}

// TestR17_AClientWithoutTheTokenLeavesTheSessionAlone: it hears why, and says nothing more.
func TestR17_AClientWithoutTheTokenLeavesTheSessionAlone(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 100)
	cfg.Session = session.New()
	ctx := during(t, 10*time.Second)
	c, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, protocol.ErrInUse) {
		t.Errorf("got %v", err)
	}
	if got := f.one().dropped; len(got) > 0 || f.count("input-2", protocol.Open) != 1 {
		t.Errorf("another client's session was dropped: %v, or opened elsewhere", got)
	}
}

// TestOutputThatHasNotHeardOfTheSessionYet is asked again, because the inputs know it.
func TestOutputThatHasNotHeardOfTheSessionYet(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	f.late = 5
	cfg := f.config()
	var want map[string][]string
	cfg.Dir, want = dataDir(t, 50)
	answer, err := Run(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkAnswer(t, answer, want)
}

func TestResultsThatExpired(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	f.expired = true
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 50)
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrExpired) {
		t.Errorf("got %v", err)
	}
}

// TestSessionOfAnotherRunCanBeListedAndCancelled by who knows its id.
func TestSessionOfAnotherRunCanBeListedAndCancelled(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Session = session.New()
	ctx := during(t, 10*time.Second)
	runner, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	if err := runner.Open(ctx); err != nil {
		t.Fatal(err)
	}
	cfg.Force = true
	other, err := Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	list, err := other.Sessions(ctx)
	if err != nil || len(list) != 3 || list[0].Session != cfg.Session || list[0].Node != "input-1" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := other.Cancel(ctx); err != nil {
		t.Error(err)
	}
	if got := f.one().dropped; len(got) != 3 || got["output-1"] != protocol.Cancel {
		t.Errorf("heard %v", got)
	}
	f.outputs[0].stop()
	defer f.outputs[0].start()
	if err := other.Cancel(ctx); err == nil || !strings.Contains(err.Error(), f.outputs[0].endpoint) {
		t.Errorf("an output that is gone was not named: %v", err)
	}
	if list, err := other.Sessions(ctx); err == nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestWhatTheClusterRefuses(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	cfg.Analysis = "trams"
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrUnknownAnalysis) {
		t.Errorf("got %v", err)
	}
}

// TestClusterThatLostTheSession: an input with a new disk does not know the session; nothing is to be saved.
func TestClusterThatLostTheSession(t *testing.T) {
	f := newFakeCluster(t, 2, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 500)
	cfg.Chunk = 500
	f.fault = func(h heard) fault {
		if h.request.Type == protocol.Chunk && h.request.Seq == 3 {
			f.mu.Lock()
			clear(f.sessions)
			f.mu.Unlock()
		}
		return fault{}
	}
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, protocol.ErrUnknownSession) {
		t.Errorf("got %v", err)
	}
}

func TestErrorOfOnRowsEndsTheRun(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	full := errors.New("the disk is full")
	cfg.OnRows = func(string, []string, protocol.Rows, bool) error { return full }
	if _, err := Run(during(t, 10*time.Second), cfg); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if got := f.one().dropped["input-1"]; got != protocol.Cancel {
		t.Errorf("the input heard %q", got)
	}
}

// TestAnAnswerIsDeliveredBeforeTheSessionIsClosed: what could not be delivered stays, and can be asked for again.
func TestAnAnswerIsDeliveredBeforeTheSessionIsClosed(t *testing.T) {
	full := errors.New("the disk is full")
	for _, outcome := range []error{nil, full} {
		f := newFakeCluster(t, 1, 1)
		cfg := f.config()
		cfg.Dir, _ = dataDir(t, 10)
		rows, dropped := 0, 0
		cfg.Deliver = func(_ context.Context, a *Answer) error {
			rows, dropped = a.Query("numbers").Len(), len(f.one().dropped)
			return outcome
		}
		_, err := Run(during(t, 10*time.Second), cfg)
		if !errors.Is(err, outcome) || errors.Is(err, ErrNotDelivered) != (outcome != nil) {
			t.Errorf("got %v, want %v", err, outcome)
		}
		want := protocol.Close
		if outcome != nil {
			want = ""
		}
		if got := f.one().dropped["output-1"]; got != want || rows != f.rows || dropped != 0 {
			t.Errorf("%v: the output heard %q, want %q; %d rows were delivered when %d nodes had heard of the end", outcome, got, want, rows, dropped)
		}
	}
}

func TestAnswerAsJSON(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	f.rows = 2
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	cfg.Session = session.ID{1}
	answer, err := Run(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"analysis":"bikes","session":"01000000-0000-0000-0000-000000000000","queries":{` +
		`"numbers":{"columns":["n"],"rows":[[0],[1]]},` +
		`"counts":{"columns":["stream","records"],"rows":[["stations",2],["trips",20]]}},` +
		`"rejected":{"trips":{"rows":1,"first":[{"file":"a/trips.csv","line":3,"reason":"no \"id\""}]}},"warnings":[]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestConfigThatCannotWork(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no entries":    {},
		"bad endpoint":  {Entries: []string{"http://x"}},
		"lanes":         {Entries: []string{"tcp://127.0.0.1:1"}, Lanes: 2000},
		"chunk":         {Entries: []string{"tcp://127.0.0.1:1"}, Chunk: 1 << 30},
		"negative time": {Entries: []string{"tcp://127.0.0.1:1"}, Timeout: -1},
	} {
		if _, err := Dial(during(t, 5*time.Second), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamOnlyKeepsNoRows(t *testing.T) {
	f := newFakeCluster(t, 1, 1)
	cfg := f.config()
	cfg.Dir, _ = dataDir(t, 10)
	seen := 0
	cfg.StreamOnly = true
	cfg.OnRows = func(_ string, _ []string, rows protocol.Rows, _ bool) error {
		seen += rows.Len()
		return nil
	}
	answer, err := Run(during(t, 10*time.Second), cfg)
	if err != nil {
		t.Fatal(err)
	}
	numbers := answer.Query("numbers")
	for row := range numbers.All() {
		t.Fatalf("row %v was kept", row)
	}
	if numbers.Len() != f.rows || seen != f.rows+2 {
		t.Errorf("Len is %d, OnRows saw %d", numbers.Len(), seen)
	}
}
