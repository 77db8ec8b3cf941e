package protocol

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

func someRows(t testing.TB) Rows {
	r := NewRows(3)
	for _, row := range [][]Value{
		{{Kind: Text, Text: "2015-06-12"}, {Kind: Float, Float: 812.25}, {Kind: Int, Int: 31}},
		{{Kind: Text}, {Kind: Float, Float: math.Copysign(0, -1)}, {Kind: Int, Int: math.MinInt64}},
		{{Kind: Text, Text: strings.Repeat("é", 300)}, {Kind: Float, Float: math.MaxFloat64}, {Kind: Int, Int: math.MaxInt64}},
	} {
		if err := r.Add(row...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func replies(t testing.TB) map[string]Reply {
	streams := []Stream{{Name: "weather", Reference: true, Files: "*/weather.csv", Comma: ','},
		{Name: "trips", Files: "*/trips.csv", Comma: ';'}}
	return map[string]Reply{
		"ok":      {Type: OK},
		"ok lane": {Type: OK, Lane: 0, Seq: 1},
		"ok ping": {Type: OK, State: session.Failed, Reason: "disk"},
		"opened": {Type: Opened, State: session.Running, Inputs: []string{"tcp://a:1", "tcp://b:1"},
			Outputs: []string{"tcp://c:1"}, Chunk: 1 << 18, ClientTimeout: time.Minute, Streams: streams,
			Queries: []string{"rain", "far"}, Lanes: []LaneSeq{{2, 5}}, Ended: []string{"weather"},
			Openers: session.Openers{{1}, testToken.Hash()}, Ranges: []FileRanges{
				{Stream: "trips", File: "montreal/trips.csv", Header: 1 << 31, Taken: []Range{{60, 1 << 20, 12}, {1 << 21, 1 << 40, 1<<32 - 1}}}}},
		"opened, all that there is": {Type: Opened, State: session.Running, Inputs: []string{"tcp://a:1"}, InputNodes: []string{"a"},
			Outputs: []string{"tcp://c:1"}, OutputNodes: []string{"c"}, Chunk: 1 << 18, Frame: 1 << 24, ClientTimeout: time.Minute, Streams: streams,
			Queries: []string{"rain", "far"}, Lanes: []LaneSeq{{2, 5}}, Ended: []string{"weather"}, Openers: session.Openers{{1}},
			Ranges: []FileRanges{{Stream: "trips", File: "a", Taken: []Range{{0, 1, 2}}}, {Stream: "trips", File: "b", Taken: []Range{{0, 1, 2}}}}},
		"opened, nothing of any file": {Type: Opened, Chunk: 1, Lanes: []LaneSeq{{0, 1}}, Ranges: []FileRanges{}},
		"results": {Type: Parts, State: session.Done, Complete: true, Parts: []Part{
			{N: 1, Query: "rain", Columns: []string{"date", "average", "trips"}, Offset: 12, Rows: someRows(t), Last: true},
			{N: 2, Query: "empty", Columns: []string{"x"}, Rows: NewRows(1), Last: true},
			{N: 3, Rejected: []Rejected{{Stream: "trips", Rows: 12, First: []RejectedRow{
				{File: "montreal/trips.csv", Line: 9, Reason: "duration_sec is empty"}}}, {Stream: "weather"}}}}},
		"sessions": {Type: Listed, Node: "input-1", Sessions: []SessionInfo{{Session: testID, Analysis: "bikes", Owner: "ann",
			State: session.Running, Node: "input-1", Age: 3 * time.Second, Bytes: 1 << 40, Rows: 12, Asks: "pass 1 of: SELECT 1",
			FilesRead: 1 << 30, FilesSize: 1 << 33, FilesLeft: 12 * time.Second}}},
		"info": {Type: About, Cluster: "posta", Node: "output-1", Version: "1.0", Inputs: []string{"tcp://a:1"},
			Outputs: []string{"ipc:///o"}, InputNodes: []string{"input-1"}, OutputNodes: []string{"output-1"},
			Analyses: []AnalysisInfo{{Name: "bikes", About: "rides",
				Params:  []ParamInfo{{Name: "rain_mm", Default: "30", About: "rain"}},
				Streams: streams, Queries: []string{"rain"}}}},
		"busy": {Type: Refused, Err: Error{Code: ErrBusy, Message: "8 sessions run", RetryAfter: 1500 * time.Millisecond}},
		"failed": {Type: Parts, State: session.Failed, Reason: "no row", Complete: true, Err: Error{Code: ErrBadInput,
			Fields: Fields{"cause": "stray_quote", "file": "a\xff.csv"}}},
		"refused": {Type: Refused, Err: Error{Code: ErrFailed, Message: "no", Fields: Fields{"cause": "statement"}}},
		"gap":     {Type: Refused, Err: Error{Code: ErrGap, Want: 7}},
		"wrong":   {Type: Refused, Inputs: []string{"tcp://a:1"}, Err: Error{Code: ErrWrongNode, Message: "ask an input"}},
	}
}

func TestReplyComesBackAsItWas(t *testing.T) {
	for name, want := range replies(t) {
		frame := want.Append([]byte("before"))[len("before"):]
		got, err := DecodeReply(frame)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again := got.Append(nil); !bytes.Equal(again, frame) {
			t.Errorf("%s: says something else when it is said again", name)
		}
		// Rows are compared by content, because a decoded empty list is an empty view and not nil.
		for i := range want.Parts {
			compareRows(t, name, got.Parts[i].Rows, want.Parts[i].Rows)
			got.Parts[i].Rows = want.Parts[i].Rows
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func compareRows(t *testing.T, name string, got, want Rows) {
	t.Helper()
	if g, w := allRows(got), allRows(want); !reflect.DeepEqual(g, w) {
		t.Errorf("%s: rows\n got %v\nwant %v", name, g, w)
	}
}

func allRows(r Rows) (rows [][]Value) {
	for row := range r.All() {
		rows = append(rows, append([]Value(nil), row...))
	}
	return rows
}

func TestReplyCutAnywhereIsAnError(t *testing.T) {
	for name, p := range replies(t) {
		frame := p.Append(nil)
		for n := range frame {
			if _, err := DecodeReply(frame[:n]); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s cut after %d of %d bytes: %v", name, n, len(frame), err)
			}
		}
	}
}

func TestErrorReplyIsItsCode(t *testing.T) {
	p := replies(t)["busy"]
	err := p.Failure()
	if !errors.Is(err, ErrBusy) || errors.Is(err, ErrGap) {
		t.Errorf("errors.Is does not find the code in %v", err)
	}
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter != 1500*time.Millisecond {
		t.Errorf("errors.As: %+v", e)
	}
	if ok := replies(t)["ok"]; ok.Failure() != nil {
		t.Errorf("ok is a failure: %v", ok.Failure())
	}
}

func TestRowsThatDoNotFitTheirColumns(t *testing.T) {
	part := func(rows func([]byte) []byte) []byte {
		f := newFields(nil)
		f.uint("v", Version)
		f.text("type", "results")
		f.key("parts")
		f.b = wire.AppendArray(f.b, 1)
		in := newFields(f.b)
		in.key("rows") // before the columns, because a map has no order
		in.b = rows(in.b)
		in.texts("columns", []string{"a", "b"})
		f.b = in.close()
		return f.close()
	}
	row := func(cells ...[]byte) func([]byte) []byte {
		return func(b []byte) []byte {
			b = wire.AppendArray(wire.AppendArray(b, 1), len(cells))
			return append(b, bytes.Join(cells, nil)...)
		}
	}
	one := wire.AppendInt(nil, 1)
	if _, err := DecodeReply(part(row(one, one))); err != nil {
		t.Errorf("two cells for two columns: %v", err)
	}
	for name, bad := range map[string]func([]byte) []byte{
		"one cell":     row(one),
		"three cells":  row(one, one, one),
		"nested":       row(one, wire.AppendArray(nil, 0)),
		"above 63 bit": row(one, wire.AppendUint(nil, math.MaxUint64)),
		"no array":     func(b []byte) []byte { return wire.AppendInt(b, 3) },
		"ext":          row(one, []byte{0xc1}),
	} {
		if _, err := DecodeReply(part(bad)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRowsAddRefusesTheWrongWidth(t *testing.T) {
	r := NewRows(2)
	if err := r.Add(Value{}); !errors.Is(err, ErrWidth) || r.Len() != 0 || r.Size() != 0 {
		t.Errorf("one cell for two columns: %v, %d rows of %d bytes", err, r.Len(), r.Size())
	}
}

func TestRowsSkip(t *testing.T) {
	r := someRows(t)
	all := allRows(r)
	for n := range 5 {
		rest := r.Skip(n)
		want := all[min(n, len(all)):]
		if got := allRows(rest); len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("without %d: %v", n, got)
		}
	}
}

func TestValueOf(t *testing.T) {
	for in, want := range map[any]string{"a\"b\x01é": `"a\"b\u0001é"`, int64(-3): "-3", 3.0: "3.0", 0.5: "0.5",
		1234567.5: "1234567.5", -0.0000001: "-1e-07", 0.0: "0.0",
		1e300: "1e+300", "plain <b>": `"plain <b>"`, "<é>": `"<é>"`, math.Inf(1): "null"} {
		v, err := ValueOf(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(v.AppendJSON(nil)); got != want {
			t.Errorf("%v in JSON is %s, not %s", in, got, want)
		}
	}
	if _, err := ValueOf(3); err == nil {
		t.Error("an int, which no analysis emits, was taken")
	}
}

func TestReplyOfHugeListsStaysSmall(t *testing.T) {
	f := newFields(nil)
	f.uint("v", Version)
	f.text("type", "results")
	f.key("parts")
	f.b = append(f.b, 0xdd, 0x7f, 0xff, 0xff, 0xff)
	if _, err := DecodeReply(f.close()); !errors.Is(err, ErrInvalid) {
		t.Errorf("2^31 parts announced: %v", err)
	}
	f = newFields(nil)
	f.uint("v", Version)
	f.text("type", "opened")
	f.key("streams")
	f.b = append(wire.AppendArray(f.b, MaxStreams+1), bytes.Repeat([]byte{0x80}, MaxStreams+1)...)
	if _, err := DecodeReply(f.close()); !errors.Is(err, ErrInvalid) {
		t.Errorf("%d streams: %v", MaxStreams+1, err)
	}
}

func FuzzDecodeReply(f *testing.F) {
	for _, p := range replies(f) {
		f.Add(p.Append(nil))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		p, err := DecodeReply(frame)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("an error that is not ErrInvalid: %v", err)
			}
			return
		}
		for i := range p.Parts {
			n := 0
			for range p.Parts[i].Rows.All() {
				n++
			}
			if n != p.Parts[i].Rows.Len() {
				t.Fatalf("%d rows announced, %d found", p.Parts[i].Rows.Len(), n)
			}
		}
		said := p.Append(nil)
		again, err := DecodeReply(said)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		if !bytes.Equal(again.Append(nil), said) {
			t.Fatalf("%+v became %+v", p, again)
		}
	})
}

func BenchmarkDecodeChunk(b *testing.B) {
	q := requests()["chunk"]
	q.Data = make([]byte, 256<<10)
	frame := q.Append(nil)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeRequest(frame); err != nil {
			b.Fatal(err)
		}
	}
}
