package protocol

import (
	"posta.dev/posta/internal/wire"
)

// Append appends the reply's frame to dst.
func (p *Reply) Append(dst []byte) []byte {
	f := newFields(dst)
	f.uint("v", Version)
	f.text("type", string(p.Type))
	switch p.Type {
	case OK:
		p.appendOK(&f)
	case Opened:
		p.appendOpened(&f)
	case Parts:
		p.appendParts(&f)
	case Listed:
		f.maybe("node", p.Node)
		list(&f, "sessions", p.Sessions, appendSession)
	case About:
		p.appendAbout(&f)
	case Refused:
		p.appendError(&f)
	}
	return f.close()
}

func (p *Reply) appendOK(f *fields) {
	if p.Seq > 0 {
		f.uint("lane", uint64(p.Lane))
		f.uint("seq", p.Seq)
	}
	f.maybe("state", string(p.State))
	f.maybe("reason", p.Reason)
}

func (p *Reply) appendOpened(f *fields) {
	f.maybe("state", string(p.State))
	f.texts("inputs", p.Inputs)
	f.texts("outputs", p.Outputs)
	f.uint("chunk", uint64(max(0, p.Chunk)))
	f.millis("client_timeout_ms", p.ClientTimeout)
	list(f, "streams", p.Streams, appendStream)
	f.texts("queries", p.Queries)
	f.lanes("lanes", p.Lanes)
	f.texts("ended", p.Ended)
}

func (p *Reply) appendParts(f *fields) {
	f.text("state", string(p.State))
	f.maybe("reason", p.Reason)
	list(f, "parts", p.Parts, appendPart)
	f.bool("done", p.Complete)
}

func (p *Reply) appendAbout(f *fields) {
	f.text("cluster", p.Cluster)
	f.text("node", p.Node)
	f.text("version", p.Version)
	f.texts("inputs", p.Inputs)
	f.texts("outputs", p.Outputs)
	list(f, "analyses", p.Analyses, appendAnalysis)
}

func (p *Reply) appendError(f *fields) {
	f.text("code", string(p.Err.Code))
	f.text("message", p.Err.Message)
	if p.Err.RetryAfter > 0 {
		f.millis("retry_after_ms", p.Err.RetryAfter)
	}
	if p.Err.Want > 0 {
		f.uint("want", p.Err.Want)
	}
	if p.Err.Code == ErrWrongNode {
		f.texts("inputs", p.Inputs)
		f.texts("outputs", p.Outputs)
	}
}

// list appends an array of maps.
func list[T any](f *fields, key string, items []T, each func(*fields, *T)) {
	f.key(key)
	f.b = wire.AppendArray(f.b, len(items))
	for i := range items {
		in := newFields(f.b)
		each(&in, &items[i])
		f.b = in.close()
	}
}

func appendStream(f *fields, s *Stream) {
	f.text("name", s.Name)
	f.bool("reference", s.Reference)
	f.text("files", s.Files)
	comma := s.Comma
	if comma == 0 {
		comma = ','
	}
	f.text("comma", string(rune(comma)))
}

func appendPart(f *fields, p *Part) {
	f.uint("n", p.N)
	f.text("query", p.Query)
	if p.Query == "" {
		appendRejected(f, p.Rejected)
		return
	}
	f.texts("columns", p.Columns)
	f.uint("offset", p.Offset)
	f.key("rows")
	f.b = p.Rows.append(f.b)
	f.bool("last", p.Last)
}

func appendRejected(f *fields, streams []Rejected) {
	f.key("rejected")
	f.b = wire.AppendMap(f.b, len(streams))
	for i := range streams {
		f.b = appendText(f.b, streams[i].Stream)
		in := newFields(f.b)
		in.uint("rows", streams[i].Rows)
		list(&in, "first", streams[i].First, appendRejectedRow)
		f.b = in.close()
	}
}

func appendRejectedRow(f *fields, r *RejectedRow) {
	f.text("file", r.File)
	f.uint("line", r.Line)
	f.text("reason", r.Reason)
}

func appendSession(f *fields, s *SessionInfo) {
	f.text("session", s.Session.String())
	f.text("analysis", s.Analysis)
	f.text("state", string(s.State))
	f.maybe("node", s.Node)
	f.millis("age_ms", s.Age)
	f.uint("bytes", s.Bytes)
	f.uint("rows", s.Rows)
}

func appendAnalysis(f *fields, a *AnalysisInfo) {
	f.text("name", a.Name)
	f.text("about", a.About)
	list(f, "params", a.Params, appendParam)
	list(f, "streams", a.Streams, appendStream)
	f.texts("queries", a.Queries)
}

func appendParam(f *fields, p *ParamInfo) {
	f.text("name", p.Name)
	f.text("default", p.Default)
	f.text("about", p.About)
}
