package protocol

import (
	"cmp"
	"math"
	"slices"

	"posta.dev/posta/internal/wire"
)

// Append appends the reply's frame to dst.
func (p *Reply) Append(dst []byte) []byte {
	if rows := p.rowBytes(); rows > 0 {
		dst = slices.Grow(dst, rows+rows/16+512) // a little more than the rows, for what else is in the reply
	}
	return appendMessage(dst, p)
}

// rowBytes returns how many bytes the rows of all parts take.
func (p *Reply) rowBytes() (n int) {
	for i := range p.Parts {
		n += p.Parts[i].Rows.Size()
	}
	return n
}

// DecodeReply reads a reply. The rows of its parts are views into frame; everything else is copied. Unknown keys are ignored.
func DecodeReply(frame []byte) (Reply, error) {
	var p Reply
	d := newDecoder(frame)
	d.whole(&p)
	p.check(&d)
	return p, d.done()
}

func (p *Reply) check(d *decoder) {
	switch p.Type {
	case OK, Opened, Parts, Listed, About:
	case Refused:
		if p.Err.Code == "" {
			d.fail("an error reply without code")
		}
	default:
		d.fail("a reply of type %.40q", p.Type)
	}
	p.checkNames(d, "input", p.Inputs, p.InputNodes)
	p.checkNames(d, "output", p.Outputs, p.OutputNodes)
	for i := range p.Parts { // at the end, because the columns may come after the rows
		part := &p.Parts[i]
		if part.Rows.b != nil {
			part.Rows = d.checkRows(part.Rows.b, len(part.Columns))
		}
	}
}

func (p *Reply) checkNames(d *decoder, what string, endpoints, nodes []string) {
	if len(nodes) > 0 && len(nodes) != len(endpoints) {
		d.fail("%d names for %d %ss", len(nodes), len(endpoints), what)
	}
}

func (p *Reply) fields(c *codec) {
	c.version()
	c.text("type", MaxName, (*string)(&p.Type))
	if c.has(p.Type == OK) {
		p.okFields(c)
	}
	if c.has(p.Type == Opened) {
		p.openedFields(c)
	}
	if c.has(p.Type == Parts) {
		c.text("state", MaxName, (*string)(&p.State))
		p.whyFields(c)
		list(c, "parts", MaxParts, &p.Parts)
		c.bool("done", &p.Complete)
	}
	if c.has(p.Type == Listed) {
		c.optional("node", MaxName, &p.Node)
		list(c, "sessions", MaxListed, &p.Sessions)
	}
	if c.has(p.Type == About) {
		p.aboutFields(c)
	}
	if c.has(p.Type == Refused) {
		p.errorFields(c)
	}
}

func (p *Reply) okFields(c *codec) {
	if c.has(p.Seq > 0) {
		below(c, "lane", MaxLanes, &p.Lane)
		c.uint("seq", &p.Seq)
	}
	if c.has(p.At > 0) {
		c.uint("at", &p.At)
	}
	c.optional("state", MaxName, (*string)(&p.State))
	p.whyFields(c)
}

func (p *Reply) whyFields(c *codec) {
	c.optional("reason", MaxText, &p.Reason)
	c.optional("code", MaxName, (*string)(&p.Err.Code))
	c.errorFields("fields", &p.Err.Fields)
}

func (p *Reply) openedFields(c *codec) {
	c.optional("state", MaxName, (*string)(&p.State))
	p.endpointFields(c)
	below(c, "chunk", math.MaxInt32, &p.Chunk)
	if c.has(p.Frame > 0) {
		below(c, "frame", math.MaxInt32, &p.Frame)
	}
	c.millis("client_timeout_ms", MaxDuration, &p.ClientTimeout)
	list(c, "streams", MaxStreams, &p.Streams)
	c.texts("queries", MaxStreams, MaxName, &p.Queries)
	c.lanes("lanes", &p.Lanes)
	c.texts("ended", MaxStreams, MaxName, &p.Ended)
	c.openers("openers", &p.Openers)
	c.optionalTexts("roots", MaxNodes, MaxFile, &p.Roots)
	c.flag("reads_columns", &p.ReadsColumns)
	if c.has(p.Ranges != nil) { // an empty list (nothing was accepted) differs from nil (unknown)
		list(c, "ranges", MaxRanges, &p.Ranges)
		if string(c.key) == "ranges" && p.Ranges == nil {
			p.Ranges = []FileRanges{}
		}
	}
}

func (p *Reply) endpointFields(c *codec) {
	c.texts("inputs", MaxNodes, MaxName, &p.Inputs)
	c.texts("outputs", MaxNodes, MaxName, &p.Outputs)
	c.optionalTexts("input_nodes", MaxNodes, MaxName, &p.InputNodes)
	c.optionalTexts("output_nodes", MaxNodes, MaxName, &p.OutputNodes)
}

func (p *Reply) aboutFields(c *codec) {
	c.text("cluster", MaxName, &p.Cluster)
	c.text("node", MaxName, &p.Node)
	c.text("version", MaxName, &p.Version)
	p.endpointFields(c)
	list(c, "analyses", MaxListed, &p.Analyses)
}

func (p *Reply) errorFields(c *codec) {
	c.text("code", MaxName, (*string)(&p.Err.Code))
	c.text("message", MaxText, &p.Err.Message)
	if c.has(p.Err.RetryAfter > 0) {
		c.millis("retry_after_ms", MaxDuration, &p.Err.RetryAfter)
	}
	if c.has(p.Err.Want > 0) {
		c.uint("want", &p.Err.Want)
	}
	c.errorFields("fields", &p.Err.Fields)
	if c.has(p.Err.Code == ErrWrongNode) {
		p.endpointFields(c)
	}
}

func (r *FileRanges) fields(c *codec) {
	c.text("stream", MaxName, &r.Stream)
	c.text("file", MaxFile, &r.File)
	below(c, "header", 1<<32, &r.Header)
	if c.writes("taken") {
		c.b = wire.AppendArray(c.b, len(r.Taken))
		for _, t := range r.Taken {
			c.b = wire.AppendUint(wire.AppendUint(wire.AppendArray(c.b, 3), t.From), t.To)
			c.b = wire.AppendUint(c.b, uint64(t.Sum))
		}
	} else if c.reads("taken") {
		r.Taken = nil
		c.d.list("taken pieces", MaxRanges, func() {
			c.d.ArrayOf(3)
			t := Range{From: c.d.below("from", MaxOffset), To: c.d.below("to", 2*MaxOffset), Sum: uint32(c.d.below("sum", 1<<32))}
			if after := len(r.Taken) - 1; t.To <= t.From || after >= 0 && t.From < r.Taken[after].To {
				c.d.fail("taken pieces that are empty, or not in order")
			}
			r.Taken = append(r.Taken, t)
		})
	}
}

func (s *Stream) fields(c *codec) {
	c.text("name", MaxName, &s.Name)
	c.bool("reference", &s.Reference)
	c.text("files", MaxText, &s.Files)
	if c.writes("comma") {
		c.b = appendText(c.b, string(rune(cmp.Or(s.Comma, ','))))
	} else if c.reads("comma") {
		s.Comma = c.d.comma()
	}
}

func (p *Part) fields(c *codec) {
	c.uint("n", &p.N)
	c.text("query", MaxName, &p.Query)
	if c.has(p.Query == "") {
		c.rejected("rejected", &p.Rejected)
	}
	if c.has(p.Query != "") {
		c.texts("columns", MaxColumns, MaxName, &p.Columns)
		c.uint("offset", &p.Offset)
		if c.writes("rows") {
			c.b = p.Rows.append(c.b)
		} else if c.reads("rows") {
			p.Rows = Rows{b: c.d.raw(2)} // see Reply.check
		}
		c.bool("last", &p.Last)
	}
}

// rejected is a map from streams to their rejected rows.
func (c *codec) rejected(key string, v *[]Rejected) {
	if c.writes(key) {
		c.b = wire.AppendMap(c.b, len(*v))
		for i := range *v {
			c.b = appendMessage(appendText(c.b, (*v)[i].Stream), &(*v)[i])
		}
	} else if c.reads(key) {
		*v = nil
		c.d.names("rejected rows of", MaxStreams, func(stream string) {
			*v = append(*v, Rejected{Stream: stream})
			c.d.message(&(*v)[len(*v)-1])
		})
	}
}

func (r *Rejected) fields(c *codec) {
	c.uint("rows", &r.Rows)
	list(c, "first", MaxRejectedRows, &r.First)
}

func (r *RejectedRow) fields(c *codec) {
	c.text("file", MaxFile, &r.File)
	c.uint("line", &r.Line)
	c.text("reason", MaxText, &r.Reason)
}

func (s *SessionInfo) fields(c *codec) {
	c.session("session", &s.Session)
	c.text("analysis", MaxName, &s.Analysis)
	c.optional("owner", MaxName, &s.Owner)
	c.text("state", MaxName, (*string)(&s.State))
	c.optional("node", MaxName, &s.Node)
	c.millis("age_ms", MaxDuration, &s.Age)
	c.uint("bytes", &s.Bytes)
	c.uint("rows", &s.Rows)
	c.optional("asks", MaxText, &s.Asks)
	if c.has(s.FilesSize > 0) {
		c.fileBytes(&s.FilesRead, &s.FilesSize)
	}
	if c.has(s.FilesLeft > 0) {
		c.millis("left_ms", MaxDuration, &s.FilesLeft)
	}
}

func (a *AnalysisInfo) fields(c *codec) {
	c.text("name", MaxName, &a.Name)
	c.text("about", MaxText, &a.About)
	list(c, "params", MaxParams, &a.Params)
	list(c, "streams", MaxStreams, &a.Streams)
	c.texts("queries", MaxStreams, MaxName, &a.Queries)
}

func (p *ParamInfo) fields(c *codec) {
	c.text("name", MaxName, &p.Name)
	c.text("default", MaxText, &p.Default)
	c.text("about", MaxText, &p.About)
}
