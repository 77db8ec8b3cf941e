package protocol

import (
	"slices"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// Append appends the request's frame to dst. Data comes last.
func (q *Request) Append(dst []byte) []byte {
	f := newFields(dst)
	q.appendCommon(&f)
	switch q.Type {
	case Open:
		f.text("analysis", q.Analysis)
		f.params(q.Params)
	case Chunk:
		q.appendChunk(&f)
	case End:
		f.text("stream", q.Stream)
		f.lanes("lanes", q.Lanes)
	case Results:
		f.uint("after", q.After)
		f.millis("wait_ms", q.Wait)
	case Hold:
		f.millis("lease_ms", q.Lease)
	}
	return f.close()
}

// AppendHead appends the frame of a chunk up to its data, of which there will be size bytes: a frame is head and data end to end.
// For who has the data in place already.
func (q *Request) AppendHead(dst []byte, size int) []byte {
	f := newFields(dst)
	q.appendCommon(&f)
	q.appendChunkHead(&f)
	f.b = wire.AppendBinHeader(f.b, size)
	return f.close()
}

func (q *Request) appendCommon(f *fields) {
	f.uint("v", Version)
	f.text("type", string(q.Type))
	if q.Session != (session.ID{}) {
		f.text("session", q.Session.String())
	}
}

func (q *Request) appendChunk(f *fields) {
	q.appendChunkHead(f)
	f.b = wire.AppendBin(f.b, q.Data)
}

func (q *Request) appendChunkHead(f *fields) {
	f.text("stream", q.Stream)
	f.uint("lane", uint64(q.Lane))
	f.uint("seq", q.Seq)
	f.text("file", q.File)
	f.uint("line", q.Line)
	f.bin("header", q.Header)
	f.key("data")
}

// params appends the parameters sorted by name: equal requests are equal bytes.
func (f *fields) params(params map[string]string) {
	names := make([]string, 0, len(params))
	for name := range params {
		names = append(names, name)
	}
	slices.Sort(names)
	f.key("params")
	f.b = wire.AppendMap(f.b, len(names))
	for _, name := range names {
		f.b = appendText(f.b, name)
		f.b = appendText(f.b, params[name])
	}
}
