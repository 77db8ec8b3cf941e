package client

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

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

// TestSilentInputIsNamed: one input is dead for a while, the other continues.
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
