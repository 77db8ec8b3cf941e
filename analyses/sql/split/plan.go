package split

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/bind"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"
)

const (
	version   = 13 // changes with a plan's form, with the form of its session's batches, and with what the reducer keeps of them
	semantics = 1  // changes with the meaning of its text: a node refuses sessions of other numbers, even those that it recovers
)

// Bounds of the numbers that a plan may give for a table, so that estimates do not overflow.
const (
	mostBytes = 1 << 46
	mostRows  = 1 << 40
)

// MaxPlan bounds the bytes of an encoded plan.
const MaxPlan = protocol.MaxPlan

var _ [0]struct{} = [bind.MaxName - protocol.MaxName]struct{}{} // both bound the same names

// ErrPlan is wrapped by the errors of [Decode]: bytes that are not a plan, or one of another version.
var ErrPlan = errors.New("bad plan of a SQL session")

// Plan is all that a node needs to know about a statement: its text, and the tables that its names stand for.
type Plan struct {
	Text      string
	Statement int        // index of the text's statement that is answered
	Pass      int        // number of the query, used as a value, that is answered instead of the statement, from 1; 0: none
	Answers   [][]string // of earlier passes, by query; nil: no answer yet. See [Plan.NextPass]
	Also      []Part     // what else the same session answers, from the same scan
	Tables    []catalog.Table
	Params    bind.Params

	// PartitionFrom is the estimated number of bytes from which on tables that are not small are joined in the aggregators. 0 stands
	// for the constant of that name; with a negative number, tables are never joined there.
	PartitionFrom int64
}

// Part is one of several things that a session answers: a statement, or a pass of one. Its fields mean what those of a Plan mean.
type Part struct {
	Statement int
	Pass      int
	Answers   [][]string
}

// Parts returns all that the plan answers.
func (p *Plan) Parts() []Part {
	return append([]Part{{p.Statement, p.Pass, p.Answers}}, p.Also...)
}

// Alone returns a plan that answers only one of the plan's parts; 0 is the first of them.
func (p *Plan) Alone(part int) *Plan {
	one, of := *p, p.Parts()[part]
	one.Statement, one.Pass, one.Answers, one.Also = of.Statement, of.Pass, of.Answers, nil
	return &one
}

// Together returns the plan of a session that answers what several plans answer alone, nil if the plans are not about the same text,
// parameters and tables: then they know different things of a table, so that none of them can stand for the others.
func Together(plans []*Plan) *Plan {
	all := *plans[0]
	common := func(p *Plan) string {
		one := *p
		one.Statement, one.Pass, one.Answers, one.Also = 0, 0, nil, nil
		return string(one.Encode())
	}
	want := common(&all)
	for _, p := range plans[1:] {
		if common(p) != want {
			return nil
		}
		all.Also = append(slices.Clip(all.Also), p.Parts()...)
	}
	return &all
}

// Encode returns the wire form. Equal plans have equal forms.
func (p *Plan) Encode() []byte {
	b := wire.AppendArray(nil, 7)
	b = wire.AppendUint(b, version)
	b = wire.AppendUint(b, semantics)
	b = wire.AppendString(b, p.Text)
	b = wire.AppendArray(b, 1+len(p.Also))
	for _, part := range p.Parts() {
		b = part.append(b)
	}
	b = wire.AppendArray(b, len(p.Tables))
	for _, t := range p.Tables {
		b = wire.AppendArray(b, 8)
		b = wire.AppendString(b, t.Name)
		b = wire.AppendBool(b, t.File)
		b = wire.AppendString(b, t.Files)
		b = wire.AppendUint(b, uint64(t.Comma))
		b = wire.AppendArray(b, len(t.Nulls))
		for _, text := range t.Nulls {
			b = wire.AppendString(b, text)
		}
		b = wire.AppendUint(b, uint64(max(t.Bytes, 0)))
		b = wire.AppendUint(b, uint64(max(t.Rows, 0)))
		b = wire.AppendArray(b, len(t.Columns))
		for _, c := range t.Columns {
			flags := uint64(0)
			if c.Inferred {
				flags |= 1
			}
			if c.Missing {
				flags |= 2
			}
			if c.Typed {
				flags |= 4
			}
			b = wire.AppendString(wire.AppendArray(b, 3), c.Name)
			b = wire.AppendUint(b, uint64(c.Type.Kind)|uint64(c.Type.Precision)<<8|uint64(c.Type.Scale)<<16)
			b = wire.AppendUint(b, flags|uint64(c.Star)<<8)
		}
	}
	b = wire.AppendMap(b, len(p.Params))
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		v := p.Params[name]
		b = wire.AppendString(wire.AppendUint(wire.AppendString(b, name), uint64(v.Kind)), v.Text)
	}
	return wire.AppendInt(b, max(p.PartitionFrom, -1))
}

// Decode reads what Encode wrote.
func Decode(b []byte) (*Plan, error) {
	if len(b) > MaxPlan {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrPlan, len(b), MaxPlan)
	}
	d := wire.NewReader(b)
	// The form of the rest depends on the version. So a plan of another version is refused here, with an error about the
	// version.
	fields := d.Array()
	if v, s := d.Uint(), d.Uint(); d.Err() == nil && (v != version || s != semantics) {
		return nil, fmt.Errorf(
			"%w: it has form %d and semantics %d, this program knows %d and %d; use the same version of Posta for the command and all nodes",
			ErrPlan, v, s, version, semantics)
	}
	if fields != 7 {
		d.Fail("%d fields", fields)
	}
	p := &Plan{Text: d.String(), Params: bind.Params{}}
	n := d.Array()
	if d.Err() == nil && (n < 1 || n > MaxShared) {
		d.Fail("%d statements", n)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		p.Also = append(p.Also, readPart(&d))
	}
	if d.Err() == nil {
		first := p.Also[0]
		if p.Statement, p.Pass, p.Answers, p.Also = first.Statement, first.Pass, first.Answers, p.Also[1:]; len(p.Also) == 0 {
			p.Also = nil
		}
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		d.ArrayOf(8)
		t := catalog.Table{Name: d.String(), File: d.Bool(), Files: d.String(), Comma: byte(d.Uint())}
		for n := d.Array(); n > 0 && d.Err() == nil; n-- {
			t.Nulls = append(t.Nulls, d.String())
		}
		if len(t.Nulls) > catalog.MaxNulls {
			d.Fail("%d texts for NULL", len(t.Nulls))
		}
		t.Bytes, t.Rows = int64(min(d.Uint(), mostBytes)), int64(min(d.Uint(), mostRows))
		for n := d.Array(); n > 0 && d.Err() == nil; n-- {
			d.ArrayOf(3)
			c := catalog.Column{Name: d.String()}
			k, flags := d.Uint(), d.Uint()
			c.Type = types.Type{Kind: types.Kind(k), Precision: uint8(k >> 8), Scale: uint8(k >> 16)}
			c.Inferred, c.Missing, c.Typed = flags&1 != 0, flags&2 != 0, flags&4 != 0
			c.Star = int(min(flags>>8, 1<<10))
			if c.Type != (types.Type{}) && !catalog.Readable(c.Type) || k>>24 != 0 || flags&^0xff07 != 0 || c.Star > strings.Count(t.Files, "*") ||
				c.Star > 0 && c.Type.Kind != types.Text {
				d.Fail("column %q of type %d", c.Name, k)
			}
			t.Columns = append(t.Columns, c)
		}
		p.Tables = append(p.Tables, t)
	}
	for n := d.Map(); n > 0 && d.Err() == nil; n-- {
		name, kind := d.String(), d.Uint()
		v := bind.Param{Kind: types.Kind(min(kind, math.MaxUint8)), Text: d.String()}
		if !v.Valid() {
			d.Fail("parameter %q of type %d", name, kind)
		}
		p.Params[name] = v
	}
	p.PartitionFrom = min(d.Int(), mostBytes)
	if err := d.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return p, nil
}

func (p *Part) append(b []byte) []byte {
	b = wire.AppendArray(b, 3)
	b = wire.AppendUint(b, uint64(p.Statement))
	b = wire.AppendUint(b, uint64(p.Pass))
	b = wire.AppendArray(b, len(p.Answers))
	for _, rows := range p.Answers {
		b = wire.AppendBool(b, rows != nil)
		b = wire.AppendArray(b, len(rows))
		for _, row := range rows {
			b = wire.AppendString(b, row)
		}
	}
	return b
}

// readPart reads what append wrote.
func readPart(d *wire.Reader) (p Part) {
	d.ArrayOf(3)
	p.Statement, p.Pass = int(min(d.Uint(), 1<<20)), int(min(d.Uint(), 1<<20))
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		var rows []string
		if d.Bool() {
			rows = []string{}
		}
		for n := d.Array(); n > 0 && d.Err() == nil; n-- {
			rows = append(rows, d.String())
		}
		p.Answers = append(p.Answers, rows)
	}
	return p
}

// tables returns the tables of the plan in the form of package bind.
func (p *Plan) tables() []plan.Table {
	out := make([]plan.Table, len(p.Tables))
	for i, t := range p.Tables {
		out[i] = plan.Table{Name: t.Name, File: t.File}
		for _, c := range t.Columns {
			out[i].Fields = append(out[i].Fields, plan.Field{Name: c.Name, Type: c.Type})
		}
	}
	return out
}

// Bind parses and binds the text. The error is a *syntax.Error.
func (p *Plan) Bind() (*bind.Program, []plan.Table, error) {
	script, err := syntax.Parse(p.Text)
	if err != nil {
		return nil, nil, err
	}
	tables := p.tables()
	prog, err := bind.Bind(p.Text, script, tables, p.Params)
	return prog, tables, err
}
