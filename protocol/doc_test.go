package protocol

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol/session"
)

var update = flag.Bool("update", false, "write the examples into docs/protocol-bytes.md")

const (
	docFile   = "../docs/protocol.md"
	bytesFile = "../docs/protocol-bytes.md"
)

// docExamples returns the frames of one small session, in their order.
func docExamples(t *testing.T) string {
	rows := NewRows(3)
	if err := rows.Add(Value{Text: "2015-06-26"}, Value{Kind: Float, Float: 1365.75}, Value{Kind: Int, Int: 76}); err != nil {
		t.Fatal(err)
	}
	open := Request{Type: Open, Session: testID, Token: testToken, Analysis: "bikes", Params: map[string]string{"rain_mm": "20"}}
	opened := Reply{Type: Opened, State: session.Running, Inputs: []string{"tcp://10.0.0.1:5500"},
		Outputs: []string{"tcp://10.0.0.2:5500"}, Chunk: 512 << 10, ClientTimeout: time.Minute,
		Streams: []Stream{{Name: "trips", Files: "*/trips.csv", Comma: ','}}, Queries: []string{"rain"}}
	chunk := Request{Type: Chunk, Session: testID, Token: testToken, Stream: "trips", Lane: 0, Seq: 1, File: "montreal/trips.csv", Line: 2,
		Header: []byte("code,name"), Data: []byte("1,\"a,b\"\n2,c\n")}
	ok := Reply{Type: OK, Lane: 0, Seq: 1}
	end := Request{Type: End, Session: testID, Token: testToken, Stream: "trips", Lanes: []LaneSeq{{Lane: 0, Seq: 1}}}
	results := Request{Type: Results, Session: testID, After: 0, Wait: 2 * time.Second}
	parts := Reply{Type: Parts, State: session.Done, Complete: true, Parts: []Part{
		{N: 1, Query: "rain", Columns: []string{"date", "average_duration_sec", "trips"}, Rows: rows, Last: true},
		{N: 2, Rejected: []Rejected{{Stream: "trips", Rows: 1, First: []RejectedRow{
			{File: "montreal/trips.csv", Line: 9, Reason: "duration_sec is empty"}}}}}}}

	var b strings.Builder
	shown := map[string]bool{}
	for _, e := range []struct {
		title string
		frame []byte
	}{
		{"`open`", open.Append(nil)}, {"`opened`", opened.Append(nil)},
		{"`chunk`", chunk.Append(nil)}, {"`ok`", ok.Append(nil)}, {"`end`", end.Append(nil)}, {"`results`", results.Append(nil)},
		{"`results`, the reply", parts.Append(nil)},
	} {
		fmt.Fprintf(&b, "%s (%d bytes)\n\n```\n%s```\n\n", e.title, len(e.frame), dump(e.frame, shown))
	}
	return b.String()
}

// dump writes a frame as one line for each key of the map, bytes first. Of a long value that was shown before it writes only the key.
func dump(frame []byte, shown map[string]bool) string {
	var b strings.Builder
	d := newDecoder(frame)
	before := frame
	n := d.Map()
	fmt.Fprintf(&b, "%-36s map of %d\n", spaced(before[:len(before)-d.Len()]), n)
	for range n {
		key := d.raw(0)
		value := d.raw(maxDepth)
		says := string(key[1:]) // keys are shorter than 32 bytes, so the length has one byte
		hex := spaced(append(append([]byte(nil), key...), value...))
		if shown[hex] && len(value) > 8 {
			hex, says = spaced(key)+" …", says+", as above"
		}
		shown[hex] = true
		for i, line := range wrap(hex) {
			if i > 0 {
				says = ""
			}
			fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-36s %s", line, says), " "))
		}
	}
	return b.String()
}

func spaced(p []byte) string { return strings.TrimSpace(fmt.Sprintf("% x", p)) }

func wrap(hex string) (lines []string) {
	const width = 12 * 3
	for ; len(hex) > width; hex = hex[width:] {
		lines = append(lines, strings.TrimRight(hex[:width], " "))
	}
	return append(lines, hex)
}

// TestDocShowsTheBytesOfTheEncoder keeps the examples of docs/protocol-bytes.md true.
func TestDocShowsTheBytesOfTheEncoder(t *testing.T) {
	doc, err := os.ReadFile(bytesFile)
	if err != nil {
		t.Fatal(err)
	}
	between := regexp.MustCompile(`(?s)(<!-- examples[^\n]*-->\n).*(<!-- end -->)`)
	want := between.ReplaceAllString(string(doc), "${1}\n"+strings.ReplaceAll(docExamples(t), "$", "$$")+"${2}")
	if want == string(doc) {
		return
	}
	if !*update {
		t.Fatal("the examples differ from what the encoder writes; if that is right: go test ./protocol -run Doc -update")
	}
	if err := os.WriteFile(bytesFile, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocExplainsEverything: each request, reply, code and field is in docs/protocol.md.
func TestDocExplainsEverything(t *testing.T) {
	doc, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"v", "type", "session"}
	for _, r := range requests() {
		words = append(append(words, string(r.Type)), keysOf(r.Append(nil))...)
	}
	for _, r := range replies(t) {
		words = append(append(words, string(r.Type)), keysOf(r.Append(nil))...)
	}
	for _, c := range []Code{ErrBusy, ErrUnknownSession, ErrUnknownAnalysis, ErrBadParam, ErrExpired, ErrFailed, ErrCancelled,
		ErrBadRequest, ErrGap, ErrClosed, ErrTooLarge, ErrInUse, ErrFinished, ErrSuperseded, ErrForbidden, ErrWrongNode} {
		words = append(words, string(c))
	}
	for _, word := range words {
		if !strings.Contains(string(doc), "`"+word+"`") && !strings.Contains(string(doc), `"`+word+`"`) {
			t.Errorf("docs/protocol.md does not say what %q is", word)
		}
	}
}

// keysOf returns the keys of all maps in a frame, except the user's keys in maps named params or rejected.
func keysOf(frame []byte) (keys []string) {
	d := newDecoder(frame)
	for range d.Map() {
		key := string(d.Bytes())
		keys = append(keys, key)
		value := d.raw(maxDepth)
		if value[0] < 0x90 || value[0] > 0x9f || key == "lanes" {
			continue
		}
		in := newDecoder(value)
		for range in.Array() {
			if in.peek()&0xf0 == 0x80 {
				keys = append(keys, keysOf(in.raw(maxDepth))...)
			} else {
				in.Skip(maxDepth)
			}
		}
	}
	return keys
}
