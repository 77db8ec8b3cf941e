package protocol

import (
	"posta.dev/posta/protocol/session"
)

func (d *decoder) streams() (streams []Stream) {
	d.list("streams", MaxStreams, func() { streams = append(streams, d.stream()) })
	return streams
}

func (d *decoder) stream() (s Stream) {
	d.fields(func(key []byte) {
		switch string(key) {
		case "name":
			s.Name = d.text("stream", MaxName)
		case "reference":
			s.Reference = d.Bool()
		case "files":
			s.Files = d.text("files", MaxText)
		case "comma":
			s.Comma = d.comma()
		default:
			d.Skip(maxDepth)
		}
	})
	return s
}

func (d *decoder) comma() byte {
	p := d.view("comma", 1)
	if len(p) != 1 || p[0] >= 0x80 || p[0] == '"' || p[0] == '\n' || p[0] == '\r' {
		d.fail("comma %q; one ASCII character separates fields, neither quote nor newline", p)
		return 0
	}
	return p[0]
}

func (d *decoder) part() (p Part) {
	var rows []byte
	d.fields(func(key []byte) {
		switch string(key) {
		case "n":
			p.N = d.Uint()
		case "query":
			p.Query = d.text("query", MaxName)
		case "columns":
			p.Columns = d.texts("columns", MaxColumns, MaxName)
		case "offset":
			p.Offset = d.Uint()
		case "rows":
			rows = d.raw(2)
		case "last":
			p.Last = d.Bool()
		case "rejected":
			p.Rejected = d.rejected()
		default:
			d.Skip(maxDepth)
		}
	})
	if rows != nil && d.ok() {
		p.Rows = d.checkRows(rows, len(p.Columns))
	}
	return p
}

func (d *decoder) rejected() (streams []Rejected) {
	d.fields(func(key []byte) {
		if len(key) > MaxName || len(streams) >= MaxStreams {
			d.fail("rejected rows of %.40q: names are at most %d bytes, and there are at most %d", key, MaxName, MaxStreams)
			return
		}
		streams = append(streams, d.rejectedStream(string(key)))
	})
	return streams
}

func (d *decoder) rejectedStream(name string) Rejected {
	r := Rejected{Stream: name}
	d.fields(func(key []byte) {
		switch string(key) {
		case "rows":
			r.Rows = d.Uint()
		case "first":
			d.list("rejected rows", MaxFirst, func() { r.First = append(r.First, d.rejectedRow()) })
		default:
			d.Skip(maxDepth)
		}
	})
	return r
}

func (d *decoder) rejectedRow() (r RejectedRow) {
	d.fields(func(key []byte) {
		switch string(key) {
		case "file":
			r.File = d.text("file", MaxFile)
		case "line":
			r.Line = d.Uint()
		case "reason":
			r.Reason = d.text("reason", MaxText)
		default:
			d.Skip(maxDepth)
		}
	})
	return r
}

func (d *decoder) sessionInfo() (s SessionInfo) {
	d.fields(func(key []byte) {
		switch string(key) {
		case "session":
			s.Session = d.session()
		case "analysis":
			s.Analysis = d.text("analysis", MaxName)
		case "state":
			s.State = session.State(d.text("state", MaxName))
		case "node":
			s.Node = d.text("node", MaxName)
		case "age_ms":
			s.Age = d.millis(MaxTimes)
		case "bytes":
			s.Bytes = d.Uint()
		case "rows":
			s.Rows = d.Uint()
		default:
			d.Skip(maxDepth)
		}
	})
	return s
}

func (d *decoder) analysis() (a AnalysisInfo) {
	d.fields(func(key []byte) {
		switch string(key) {
		case "name":
			a.Name = d.text("analysis", MaxName)
		case "about":
			a.About = d.text("about", MaxText)
		case "params":
			d.list("parameters", MaxParams, func() { a.Params = append(a.Params, d.param()) })
		case "streams":
			a.Streams = d.streams()
		case "queries":
			a.Queries = d.texts("queries", MaxStreams, MaxName)
		default:
			d.Skip(maxDepth)
		}
	})
	return a
}

func (d *decoder) param() (p ParamInfo) {
	d.fields(func(key []byte) {
		switch string(key) {
		case "name":
			p.Name = d.text("parameter", MaxName)
		case "default":
			p.Default = d.text("default", MaxText)
		case "about":
			p.About = d.text("about", MaxText)
		default:
			d.Skip(maxDepth)
		}
	})
	return p
}
