package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestR15_SmallFrames: for any limits.frame, nodes split what they send, and the answers are right.
func TestR15_SmallFrames(t *testing.T) {
	for _, limits := range []map[string]string{
		{"limits.frame": "128KiB", "limits.chunk": "64KiB"},
		{"limits.frame": "64KiB", "limits.chunk": "32KiB", "limits.window": "64KiB", "limits.commit": "64KiB"},
	} {
		c := start(t, topology.Variant{Settings: limits, SplitParsers: limits["limits.window"] != ""})
		for _, analysis := range []string{"memes", "movies", "bikes", "flights"} {
			d := generatedFor(t, analysis, 20_000)
			d.check(t, c.analyse(deadline(t), d.dir, func(cfg *client.Config) { cfg.Analysis = analysis }))
		}
		c.noUnexpectedExits()
	}
}

// TestR15_OneRowTooLarge: a row that no frame may carry fails its session with an error that says so, and the next session runs.
func TestR15_OneRowTooLarge(t *testing.T) {
	c := start(t, topology.Variant{})
	d := generatedFor(t, "flights", 1000)
	huge := generatedFor(t, "flights", 1000)
	spoil(t, filepath.Join(huge.dir, "itineraries.csv"), "startingAirport", strings.Repeat("A", 9*mib))
	spoil(t, filepath.Join(huge.dir, "itineraries.csv"), "segmentsArrivalAirportCode", "AAA||BBB||CCC||DDD")
	_, err := client.Run(deadline(t), client.Config{Entries: c.topo.EntryPoints(), Analysis: "flights", Dir: huge.dir})
	saysTooLarge(t, err, "itineraries", "limits.frame")
	d.check(t, c.analyse(deadline(t), d.dir, func(cfg *client.Config) { cfg.Analysis = "flights" }))
	c.noUnexpectedExits()
}

// TestR15_LargeChunk: a batch may be larger than its chunk. A chunk of 8 MiB with a huge field is answered, or the session fails with the
// reason.
func TestR15_LargeChunk(t *testing.T) {
	c := start(t, topology.Variant{Settings: map[string]string{"limits.chunk": "8MiB", "limits.commit": "8MiB"}})
	huge := generatedFor(t, "movies", 1000)
	files, err := filepath.Glob(filepath.Join(huge.dir, "*ratings*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	spoil(t, files[0], "movieId", strings.Repeat("7", 7*mib))
	ctx := deadline(t)
	if _, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: "movies", Dir: huge.dir,
		Chunk: 8 * mib}); ctx.Err() != nil {
		t.Fatalf("it hangs: %v", err)
	}
	d := generatedFor(t, "bikes", 2000)
	d.check(t, c.analyse(deadline(t), d.dir, nil))
	c.noUnexpectedExits()
}

// spoil writes over a field of the second row of a CSV file.
func spoil(t *testing.T, file, column, value string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitN(b, []byte("\n"), 4)
	at := -1
	for i, name := range strings.Split(string(lines[0]), ",") {
		if name == column {
			at = i
		}
	}
	fields := strings.Split(string(lines[1]), ",")
	if at < 0 || at >= len(fields) {
		t.Fatalf("%s has no column %s in %q", file, column, lines[0])
	}
	fields[at] = value
	lines[1] = []byte(strings.Join(fields, ","))
	if err := os.WriteFile(file, bytes.Join(lines, []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func saysTooLarge(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("R15: the session succeeded")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Fatalf("R15: %q is not in: %v", w, err)
		}
	}
}

// plainClient speaks the protocol without package client, which never exceeds a limit.
type plainClient struct {
	t   *testing.T
	req *zmqx.Req
	id  session.ID
	key session.Token
}

func dialLimits(t *testing.T, endpoint string) *plainClient {
	t.Helper()
	req, err := zmqx.NewReq(zmqx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = req.Close() })
	if err := req.Connect(endpoint); err != nil {
		t.Fatal(err)
	}
	return &plainClient{t, req, session.New(), session.NewToken()}
}

func (r *plainClient) say(q protocol.Request) protocol.Reply {
	r.t.Helper()
	q.Session, q.Token = r.id, r.key
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answer, err := r.req.Do(ctx, zmqx.Message{q.Append(nil)})
	if err != nil {
		r.t.Fatalf("%s: %v", q.Type, err)
	}
	reply, err := protocol.DecodeReply(answer[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return reply
}

// TestR15_ChunkAtTheLimit: a chunk that just fits through the input's socket is answered with ok, and its rows arrive,
// although a batch of them with the file's long name is larger than a frame.
func TestR15_ChunkAtTheLimit(t *testing.T) {
	// between its frames a busy machine may stand still
	c := start(t, topology.Variant{Settings: map[string]string{"limits.client_timeout": "1h"}})
	in := dialLimits(t, c.topo.EntryPoints()[0])
	opened := in.say(protocol.Request{Type: protocol.Open, Analysis: "bikes"})
	if opened.Failure() != nil {
		t.Fatal(opened.Failure())
	}
	q := protocol.Request{Type: protocol.Chunk, Stream: "stations", Lane: 0, Seq: 1,
		File: strings.Repeat("m", 250-len("/stations.csv")) + "/stations.csv",
		Line: 2, Header: []byte("code,name,latitude,longitude,yearid")}
	q.Session, q.Token = in.id, in.key
	var rows []byte
	for i := 0; len(q.Append(nil))+len(rows)+128 < 16*mib-104; i++ {
		rows = fmt.Appendf(rows, "%d,s,45.5,-73.5,2014\n", i)
	}
	rows = append(rows, bytes.Repeat([]byte("\n"), 16*mib-104-len(q.Append(nil))-len(rows)-4)...)
	q.Data = rows
	if r := in.say(protocol.Request{Type: protocol.End, Stream: "weather"}); r.Failure() != nil {
		t.Fatal(r.Failure())
	}
	if r := in.say(q); r.Failure() != nil {
		t.Fatal(r.Failure())
	}
	for _, s := range []string{"stations", "trips"} {
		end := protocol.Request{Type: protocol.End, Stream: s, Lanes: []protocol.LaneSeq{{Lane: 0, Seq: 1}}}
		if r := in.say(end); r.Failure() != nil {
			t.Fatal(r.Failure())
		}
	}
	out := dialLimits(t, c.topo.Outputs()[0])
	out.id, out.key = in.id, in.key
	until(t, "the answer is complete", func() bool {
		r := out.say(protocol.Request{Type: protocol.Results, Wait: time.Second})
		if r.Failure() != nil || r.State == session.Failed {
			t.Fatalf("%v %s", r.Failure(), r.Reason)
		}
		return r.Complete
	})
	c.noUnexpectedExits()
}

// TestR15_ARequestTooLarge: a request above limits.frame gets an answer, and the connection stays open.
func TestR15_ARequestTooLarge(t *testing.T) {
	c := start(t, topology.Variant{})
	in := dialLimits(t, c.topo.EntryPoints()[0])
	for range 3 {
		q := protocol.Request{Type: protocol.Chunk, Stream: "stations", Seq: 1, File: "m/stations.csv", Line: 2, Header: []byte("a"),
			Data: make([]byte, 16*mib-60)}
		r := in.say(q)
		if r.Err.Code != protocol.ErrTooLarge || !strings.Contains(r.Err.Message, "limits.frame") {
			t.Fatalf("%+v", r)
		}
		if r := in.say(protocol.Request{Type: protocol.Info}); r.Failure() != nil {
			t.Fatal(r.Failure())
		}
	}
}

// TestR15_ClientKeepsToTheLimit: the client cuts chunks smaller if their size is limits.frame or more, and the answer is right.
func TestR15_ClientKeepsToTheLimit(t *testing.T) {
	c := start(t, topology.Variant{Settings: map[string]string{"limits.frame": "128KiB", "limits.chunk": "64KiB"}})
	d := generated(t, 60_000)
	d.check(t, c.analyse(deadline(t), d.dir, func(cfg *client.Config) { cfg.Chunk = 16 * mib }))
	long := generated(t, 1000)
	file := filepath.Join(long.dir, "montreal", "trips.csv")
	if _, err := os.Stat(file); err != nil {
		files, _ := filepath.Glob(filepath.Join(long.dir, "*", "trips.csv")) // the pattern is valid
		file = files[0]
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(b, bytes.Repeat([]byte("9"), 200<<10)...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = client.Run(deadline(t), client.Config{Entries: c.topo.EntryPoints(), Analysis: "bikes", Dir: long.dir})
	saysTooLarge(t, err, "trips.csv", "limits.frame")
	c.noUnexpectedExits()
}

// TestR16_ManyFilesTakeNoMemory uploads many files at once: the input's memory depends on the number of its workers, not on the number of
// files.
func TestR16_ManyFilesTakeNoMemory(t *testing.T) {
	const files = 160
	d := generated(t, 40_000) // some 2 MiB of trips
	all, err := filepath.Glob(filepath.Join(d.dir, "*", "trips.csv"))
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	dir := filepath.Dir(all[0])
	for i := range files {
		town := filepath.Join(d.dir, fmt.Sprintf("town%03d", i))
		if err := os.Mkdir(town, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"trips.csv", "stations.csv", "weather.csv"} {
			if err := os.Link(filepath.Join(dir, name), filepath.Join(town, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := start(t, topology.Variant{Replicas: map[string]int{"joiner": 1, "aggregator": 1}})
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	c.watchMemory(ctx)
	c.analyse(ctx, d.dir, nil)
	c.mu.Lock()
	peak := c.peak["input-1"]
	c.mu.Unlock()
	t.Logf("input-1 took %d MiB for %d files", peak/mib, files)
	if peak > mostRAM {
		t.Errorf("R16: input-1 took %d MiB for %d files", peak/mib, files)
	}
	c.noUnexpectedExits()
}
