package protocol

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

var testID = session.ID{0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x41, 0xd1, 0x80, 0xb4, 0, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}

var testToken = session.Token{0x9a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func requests() map[string]Request {
	return map[string]Request{
		"open": {Type: Open, Session: testID, Token: testToken, Analysis: "bikes", Params: map[string]string{"rain_mm": "20", "a": ""},
			Trace: session.Trace{1, 15: 9}},
		"takeover": {Type: Open, Session: testID, Token: testToken, Analysis: "bikes", Params: map[string]string{}, Takeover: true},
		"takeover, second input": {Type: Open, Session: testID, Token: testToken, Analysis: "bikes", Params: map[string]string{}, Takeover: true,
			Openers: session.Openers{{1}, testToken.Hash()}},
		"chunk": {Type: Chunk, Session: testID, Token: testToken, Stream: "trips", Lane: 3, Seq: 17, File: "montreal/trips.csv", Line: 4711,
			Header: []byte("a,b\n"), Data: []byte("1,2\n3,4\n")},
		"first chunk": {Type: Chunk, Session: testID, Token: testToken, Stream: "t", Lane: 0, Seq: 1, File: "t.csv", Line: 2,
			Header: []byte("a"), Data: []byte{}},
		"placed chunk": {Type: Chunk, Session: testID, Token: testToken, Stream: "t", Lane: 1, Seq: 1, File: "t.csv", Line: 2,
			Header: []byte("a"), Data: []byte("1\n"), At: 0, Placed: true},
		"later chunk": {Type: Chunk, Session: testID, Token: testToken, Stream: "t", Lane: 1, Seq: 2, File: "t.csv", Line: 3,
			Header: []byte("a"), Data: []byte("2\n"), At: MaxOffset - 1, Placed: true},
		"read": {Type: Read, Session: testID, Token: testToken, Stream: "trips", Lane: 3, Seq: 18, File: "montreal/trips.csv", Line: 2,
			Header: []byte("a,b"),
			Path:   "/srv/data/montreal/trips.csv", From: 4, Stamp: Stamp{Size: 1 << 40, Modified: -17, Inode: 1 << 63}, Wait: time.Second},
		"end":      {Type: End, Session: testID, Token: testToken, Stream: "trips", Lanes: []LaneSeq{{0, 17}, {4, 1 << 40}}},
		"ping":     {Type: Ping, Session: testID},
		"progress": {Type: Ping, Session: testID, Token: testToken, Stream: "trips", FilesRead: 1 << 40, FilesSize: MaxOffset - 1},
		"results":  {Type: Results, Session: testID, After: 300, Wait: 2500 * time.Millisecond},
		"cancel":   {Type: Cancel, Session: testID, Token: testToken},
		"forced":   {Type: Cancel, Session: testID, Force: true},
		"close":    {Type: Close, Session: testID, Token: testToken},
		"sessions": {Type: Sessions},
		"info":     {Type: Info},
		"hold":     {Type: Hold, Lease: 30 * time.Second},
	}
}

func TestRequestComesBackAsItWas(t *testing.T) {
	for name, want := range requests() {
		frame := want.Append([]byte("before"))[len("before"):]
		got, err := DecodeRequest(frame)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
	}
}

func TestRequestDataIsAViewIntoTheFrame(t *testing.T) {
	q := requests()["chunk"]
	frame := q.Append(nil)
	got, err := DecodeRequest(frame)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{"data": got.Data, "header": got.Header} {
		first, last := uintptr(unsafe.Pointer(&frame[0])), uintptr(unsafe.Pointer(&frame[len(frame)-1]))
		if at := uintptr(unsafe.Pointer(&p[0])); at < first || at > last {
			t.Errorf("%s was copied", name)
		}
	}
}

func TestRequestCutAnywhereIsAnError(t *testing.T) {
	for name, q := range requests() {
		frame := q.Append(nil)
		for n := range frame {
			if _, err := DecodeRequest(frame[:n]); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s cut after %d of %d bytes: %v", name, n, len(frame), err)
			}
		}
		if _, err := DecodeRequest(append(frame, 0)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s with a byte too many: %v", name, err)
		}
	}
}

func TestRequestUnknownKeysAreIgnored(t *testing.T) {
	f := newFields(nil)
	f.uint("v", Version)
	f.key("novelty")
	f.b = wire.AppendArray(f.b, 2)
	f.b = wire.AppendMap(f.b, 1)
	f.b = wire.AppendNil(wire.AppendUint(f.b, 1))
	f.b = wire.AppendFloat(f.b, 1.5)
	f.text("type", "ping")
	f.text("session", testID.String())
	got, err := DecodeRequest(f.close())
	if err != nil || !reflect.DeepEqual(got, Request{Type: Ping, Session: testID}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestRequestThatBreaksTheRules(t *testing.T) {
	chunk := func(change func(*Request)) []byte {
		q := requests()["chunk"]
		change(&q)
		return q.Append(nil)
	}
	otherVersion := newFields(nil)
	otherVersion.uint("v", 1)
	otherVersion.text("type", "info")
	noVersion := newFields(nil)
	noVersion.text("type", "info")
	negativeSize := newFields(nil)
	negativeSize.uint("v", Version)
	negativeSize.text("type", "ping")
	negativeSize.text("session", testID.String())
	negativeSize.key("files_size")
	negativeSize.b = wire.AppendInt(negativeSize.b, -1)
	deep := newFields(nil)
	deep.uint("v", Version)
	deep.key("x")
	deep.b = append(deep.b, bytes.Repeat([]byte{0x91}, 100)...)

	without := func(key string) []byte {
		q := requests()["chunk"]
		return bytes.Replace(q.Append(nil), wire.AppendString(nil, key), wire.AppendString(nil, strings.ToUpper(key)), 1)
	}

	for want, frame := range map[string][]byte{
		"without lane":            without("lane"),
		"files_read is":           (&Request{Type: Ping, Session: testID, FilesRead: MaxOffset, FilesSize: 1}).Append(nil),
		"files_size is":           (&Request{Type: Ping, Session: testID, FilesSize: 1<<64 - 1}).Append(nil),
		"unsigned integer wanted": negativeSize.close(),
		"without data":            without("data"),
		"without seq":             chunk(func(q *Request) { q.Seq = 0 }),
		"without line":            chunk(func(q *Request) { q.Line = 0 }),
		"lines are below":         chunk(func(q *Request) { q.Line = 1 << 63 }),
		"without token":           chunk(func(q *Request) { q.Token = session.Token{} }),
		"or force":                (&Request{Type: Close, Session: testID}).Append(nil),
		"without file":            chunk(func(q *Request) { q.File = "" }),
		"without header":          chunk(func(q *Request) { q.Header = nil }),
		"without stream":          chunk(func(q *Request) { q.Stream = "" }),
		"without session":         chunk(func(q *Request) { q.Session = session.ID{} }),
		"lane is 1024":            chunk(func(q *Request) { q.Lane = MaxLanes }),
		"data of 16777217":        chunk(func(q *Request) { q.Data = make([]byte, MaxData+1) }),
		"without analysis":        (&Request{Type: Open, Session: testID}).Append(nil),
		"without takeover": (&Request{Type: Open, Session: testID, Token: testToken, Analysis: "a",
			Openers: session.Openers{{1}}}).Append(nil),
		"different hashes": (&Request{Type: Open, Session: testID, Token: testToken, Analysis: "a", Takeover: true,
			Openers: session.Openers{{1}, {1}}}).Append(nil),
		"unknown request type \"tea\"": (&Request{Type: "tea"}).Append(nil),
		"version 1":                    otherVersion.close(),
		`no "v"`:                       noVersion.close(),
		"nested too deep":              deep.close(),
		"HTTP":                         []byte("GET / HTTP/1.1\r\n\r\n"),
	} {
		_, err := DecodeRequest(frame)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", want, err)
		} else if !strings.Contains(err.Error(), want) && want != "HTTP" {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
}

func TestTextThatIsNotUTF8IsMadeSo(t *testing.T) {
	q := Request{Type: Open, Session: testID, Token: testToken, Analysis: "a\xffb"}
	got, err := DecodeRequest(q.Append(nil))
	if err != nil || got.Analysis != "a\ufffdb" {
		t.Errorf("got %q, %v", got.Analysis, err)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for _, q := range requests() {
		f.Add(q.Append(nil))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		q, err := DecodeRequest(frame)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("an error that is not ErrInvalid: %v", err)
			}
			return
		}
		// What was decoded is encoded again, and must decode to the same request.
		said := q.Append(nil)
		again, err := DecodeRequest(said)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		if !bytes.Equal(again.Append(nil), said) {
			t.Fatalf("%+v became %+v", q, again)
		}
	})
}

// TestHeadAndDataAreTheFrame: for data whose size has any number of bytes.
func TestHeadAndDataAreTheFrame(t *testing.T) {
	for _, size := range []int{0, 1, 255, 256, 65535, 65536, 1 << 20} {
		q := Request{Type: Chunk, Session: testID, Token: testToken, Stream: "trips", Lane: 3, Seq: 7, File: "a/trips.csv", Line: 2,
			Header: []byte("a,b")}
		head := q.AppendHead([]byte("before"), size)
		q.Data = bytes.Repeat([]byte{'x'}, size)
		if want := q.Append([]byte("before")); !bytes.Equal(append(head, q.Data...), want) {
			t.Errorf("%d bytes of data: the head is % x", size, head)
		}
	}
}
