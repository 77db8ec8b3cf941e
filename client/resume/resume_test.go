package resume

import (
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/nodes/input/coverage"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

const header = "id,text\n"

// newContent makes the records of a file, some with line ends in quotes.
func newContent(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(60) {
		b.WriteString(strings.Repeat("x", r.IntN(12)))
		if r.IntN(4) == 0 {
			b.WriteString(",\"two\nlines, \"\"so\"\"\"")
		}
		b.WriteByte('\n')
	}
	if r.IntN(3) == 0 {
		b.WriteString("no line end")
	}
	return b.String()
}

// piece is what was sent: where, and from which line.
type piece struct {
	at   uint64
	line uint64
	data string
}

// send reads a file and returns what is to be sent of it, in chunks of about the given size.
func send(f *File, content string, chunk int) (sent []piece, err error) {
	cut := csv.NewCutter(strings.NewReader(header+content), ',', chunk, 1<<20)
	h, err := cut.Header()
	if err == nil {
		err = f.Header(h)
	}
	for err == nil {
		at := f.At()
		most, was := f.Next(chunk)
		cut.Limit(most, 1<<20)
		data, line, e := cut.Next(nil)
		if e == io.EOF {
			return sent, f.End()
		}
		if err = errors.Join(e, f.Cut(data, was)); err == nil && !was {
			sent = append(sent, piece{at, line, string(data)})
		}
	}
	return sent, err
}

// cluster is what inputs keep of one file.
type cluster []*coverage.Set

func (c cluster) take(t *testing.T, to int, p piece) {
	t.Helper()
	err := c[to].Add(coverage.Chunk{File: "a", Header: crc32.Checksum([]byte(strings.TrimSuffix(header, "\n")), castagnoli), At: p.at,
		Size: uint64(len(p.data)),
		Sum:  crc32.Checksum([]byte(p.data), castagnoli)}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
}

func (c cluster) answers(ended bool) (all []protocol.Reply) {
	for _, s := range c {
		r := protocol.Reply{Ranges: s.Ranges(func(int) string { return "trips" })}
		if ended {
			r.Ended = []string{"trips"}
		}
		all = append(all, r)
	}
	return all
}

// TestR17_AnyNumberOfClientsSendAFileOnce: each dies at a random point, cuts chunks of its own size, and gives them to any input. The
// chunks of all of them are the file, each byte once, with the right lines.
func TestR17_AnyNumberOfClientsSendAFileOnce(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		content := newContent(r)
		inputs := cluster{{}, {}, {}}[:1+r.IntN(3)]
		var all []piece
		for range 1 + r.IntN(5) {
			taken, err := Of(inputs.answers(false), nil)
			if err != nil {
				t.Fatal(seed, err)
			}
			chunks, err := send(taken.File("trips", "a"), content, 1+r.IntN(100))
			if err != nil {
				t.Fatal(seed, err)
			}
			r.Shuffle(len(chunks), func(i, j int) { chunks[i], chunks[j] = chunks[j], chunks[i] }) // over lanes
			chunks = chunks[:r.IntN(len(chunks)+1)]                                                // it dies
			for _, p := range chunks {
				inputs.take(t, r.IntN(len(inputs)), p)
			}
			all = append(all, chunks...)
		}
		taken, err := Of(inputs.answers(false), nil)
		if err != nil {
			t.Fatal(seed, err)
		}
		rest, err := send(taken.File("trips", "a"), content, 1+r.IntN(100))
		if err != nil {
			t.Fatal(seed, err)
		}
		all = append(all, rest...)
		for _, p := range rest {
			inputs.take(t, 0, p)
		}
		slices.SortFunc(all, func(a, b piece) int { return int(a.at) - int(b.at) })
		got := ""
		for _, p := range all {
			if p.at != uint64(len(got)) {
				t.Fatalf("seed %d: a chunk at %d, and %d bytes were sent before", seed, p.at, len(got))
			}
			if line := uint64(2 + strings.Count(got, "\n")); p.line != line {
				t.Fatalf("seed %d: the chunk at %d is said to begin in line %d; it is line %d", seed, p.at, p.line, line)
			}
			got += p.data
		}
		if got != content {
			t.Fatalf("seed %d: sent %q, and the file has %q", seed, got, content)
		}
		// When the stream has ended nothing is left, and another file is refused, also one that is longer.
		taken, err = Of(inputs.answers(true), nil)
		if err != nil {
			t.Fatal(seed, err)
		}
		if again, err := send(taken.File("trips", "a"), content, 50); err != nil || len(again) > 0 {
			t.Fatal(seed, again, err)
		}
		if _, err := send(taken.File("trips", "a"), content+"\nmore\n", 50); !errors.Is(err, ErrOther) {
			t.Fatalf("seed %d: a file with more rows: %v", seed, err)
		}
	}
}

// TestR17_OtherFilesAreRefused: whatever differs in what was taken is found.
func TestR17_OtherFilesAreRefused(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		content := newContent(r)
		inputs := cluster{{}, {}}
		chunks, err := send(&File{name: "a"}, content, 1+r.IntN(40))
		if err != nil {
			t.Fatal(err)
		}
		bytesTaken := make([]bool, len(content))
		for _, p := range chunks {
			if r.IntN(2) == 0 {
				continue
			}
			inputs.take(t, r.IntN(2), p)
			for i := range p.data {
				bytesTaken[p.at+uint64(i)] = true
			}
		}
		at := slices.Index(bytesTaken, true)
		if at < 0 {
			continue
		}
		for range 20 {
			if i := r.IntN(len(content)); bytesTaken[i] {
				at = i
				break
			}
		}
		taken, err := Of(inputs.answers(false), nil)
		if err != nil {
			t.Fatal(err)
		}
		other := []byte(content)
		other[at] ^= 1 << r.IntN(3)
		for name, file := range map[string]string{"a bit differs": string(other), "cut short": content[:at],
			"a byte is missing": content[:at] + content[at+1:], "empty": "",
			"a row more": "a,b\n" + content} {
			if name == "a byte is missing" && at+1 < len(content) && content[at] == content[at+1] {
				continue // or it is another one that is missing
			}
			if _, err := send(taken.File("trips", "a"), file, 1+r.IntN(50)); !errors.Is(err, ErrOther) {
				t.Fatalf("seed %d: %s at %d: %v\n%q\n%q", seed, name, at, err, content, file)
			}
		}
		if err := taken.File("trips", "a").Header([]byte("id,texts")); !errors.Is(err, ErrOther) {
			t.Fatal("another header:", err)
		}
		if err := taken.Files("trips", []string{"b"}); !errors.Is(err, ErrOther) {
			t.Fatal("a file is missing:", err)
		}
		if err := taken.Files("trips", []string{"a", "b"}); err != nil {
			t.Fatal("a file that nobody has sent of:", err)
		}
	}
}

// TestR17_SizesAreComparedFirst: a file that is too short for what was taken is refused, and so is one that has another size than when its
// stream ended.
func TestR17_SizesAreComparedFirst(t *testing.T) {
	taken := []protocol.FileRanges{{Stream: "trips", File: "a", Header: 1, Taken: []protocol.Range{{From: 2, To: 5}, {From: 8, To: 10}}}}
	ended := []protocol.FileRanges{{Stream: "trips", File: "a", Header: 1, Taken: []protocol.Range{{From: 0, To: 10}}}}
	for _, c := range []struct {
		reply protocol.Reply
		file  string
		size  uint64
		says  string
	}{
		{protocol.Reply{Ranges: taken}, "a", 10, ""},
		{protocol.Reply{Ranges: taken}, "a", 11, ""}, // nobody has said where it ends
		{protocol.Reply{Ranges: taken}, "a", 9, "a has 9 bytes of records, and the session has rows of its byte 9"},
		{protocol.Reply{Ranges: taken}, "a", 0, "a has 0 bytes of records"},
		{protocol.Reply{Ranges: taken}, "b", 0, ""},
		{protocol.Reply{Ranges: ended, Ended: []string{"trips"}}, "a", 10, ""},
		{protocol.Reply{Ranges: ended, Ended: []string{"trips"}}, "a", 11, "a has 11 bytes of records, and had 10 when its stream ended"},
		{protocol.Reply{Ranges: ended, Ended: []string{"trips"}}, "a", 9, "a has 9 bytes of records"},
		{protocol.Reply{Ranges: ended, Ended: []string{"trips"}}, "b", 1, "b has 1 bytes of records, and had 0"},
		{protocol.Reply{Ranges: ended, Ended: []string{"trips"}}, "b", 0, ""}, // it has no rows
	} {
		all, err := Of([]protocol.Reply{c.reply}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = all.File("trips", c.file).Size(c.size)
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, ErrOther) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s of %d bytes: %v, want %q", c.file, c.size, err, c.says)
		}
	}
}

// TestR17_WhatIsNotKnownIsNotGuessed: an input that has taken something and does not say what, and inputs that contradict each other.
func TestR17_WhatIsNotKnownIsNotGuessed(t *testing.T) {
	ranges := func(header uint32, pieces ...protocol.Range) protocol.Reply {
		return protocol.Reply{Ranges: []protocol.FileRanges{{Stream: "trips", File: "a", Header: header, Taken: pieces}}}
	}
	for name, answers := range map[string][]protocol.Reply{
		"an input is silent": {ranges(1, protocol.Range{From: 0, To: 5}), {Lanes: []protocol.LaneSeq{{Lane: 1, Seq: 1}}}},
		"taken twice":        {ranges(1, protocol.Range{From: 0, To: 5}), ranges(1, protocol.Range{From: 4, To: 7})},
		"two headers":        {ranges(1, protocol.Range{From: 0, To: 5}), ranges(2, protocol.Range{From: 5, To: 7})},
	} {
		if _, err := Of(answers, []string{"tcp://a:1"}); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	lanes := []protocol.LaneSeq{{Lane: 1, Seq: 1}}
	for name, answers := range map[string][]protocol.Reply{
		"a session from which nothing was taken":  {{}, {}},
		"an input that has only declined to read": {{Lanes: lanes, Ranges: []protocol.FileRanges{}}, {}},
		"two inputs that have only declined to read": {{Lanes: lanes, Ranges: []protocol.FileRanges{}},
			{Lanes: lanes, Ranges: []protocol.FileRanges{}}},
	} {
		if taken, err := Of(answers, nil); err != nil || taken.File("trips", "a").Left() {
			t.Error(name, err)
		}
	}
	taken, err := Of([]protocol.Reply{ranges(1, protocol.Range{From: 0, To: 5}), ranges(1, protocol.Range{From: 5, To: 7})}, nil)
	if err != nil || taken.Bytes("trips") != 7 {
		t.Error(taken, err)
	}
}
