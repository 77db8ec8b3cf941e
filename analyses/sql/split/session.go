package split

import (
	"errors"
	"fmt"
	"strings"

	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/functions"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol"

	"github.com/klauspost/compress/s2"
)

const (
	version   = 17 // changes with a plan's form, with the form of its session's batches, and with what the reducer keeps of them
	semantics = 1  // changes with what a plan means: a node refuses sessions of other numbers, even those that it recovers
)

// Bounds of the numbers that a session may give for a table, so that estimates do not overflow.
const (
	mostBytes = 1 << 46
	mostRows  = 1 << 40
)

// MaxPlan bounds the bytes of an encoded session.
const MaxPlan = protocol.MaxPlan

// maxUnpacked bounds the bytes of its plans. packFrom is how many bytes they have at least to be packed: fewer fit anyway.
const (
	maxUnpacked = 8 * MaxPlan
	packFrom    = MaxPlan / 4
)

// ErrPlan is wrapped by the errors of [Decode]: bytes that are not a session, or one of another version.
var ErrPlan = errors.New("bad plan of a SQL session")

// Session is all that a node needs to know about statements: their plans, and the tables that these read. The client makes it, and nodes
// read it; they bind nothing. What runs where follows from the plans and from the sizes of the tables alone, so each node derives it by
// itself (Analysis). If it travelled, a node would have to check that a stranger's fragments fit the plans, which is as much work.
//
// The text is for people: errors quote it.
type Session struct {
	Text          string
	Asks, Outline string      // what the session computes, in one line; Outline without strings and numbers
	Roots         []exec.Root // what it answers, each from its own plan
	Tables        []catalog.Table
	PartitionFrom int64 // see [Plan]
	Small         int64 // see [Plan]

	tables []plan.Table // in the form of package plan
	ids    plan.IDs     // gives out numbers for further columns
}

// Encode returns the wire form. Equal sessions have equal forms.
func (p *Session) Encode() []byte {
	b := wire.AppendArray(nil, 10)
	b = wire.AppendUint(b, version)
	b = wire.AppendUint(b, semantics)
	for _, text := range []string{p.Text, p.Asks, p.Outline} {
		b = wire.AppendString(b, text)
	}
	b = wire.AppendArray(b, len(p.Roots))
	plans := make([]plan.Node, len(p.Roots))
	for i, r := range p.Roots {
		b = wire.AppendBool(wire.AppendString(b, r.Name), r.Pass)
		plans[i] = r.Plan
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
	b = wire.AppendInt(b, max(p.PartitionFrom, -1))
	b = wire.AppendInt(b, max(p.Small, -1))
	made := plan.Encode(p.tables, plans...)
	if len(made) < packFrom {
		return wire.AppendBin(wire.AppendBool(b, false), made)
	}
	return wire.AppendBin(wire.AppendBool(b, true), s2.EncodeBetter(nil, made))
}

// Decode reads what Encode wrote. It is strict: who sends a session may be anyone, so its size, its numbers and the types of its plans are
// checked.
func Decode(b []byte) (*Session, error) {
	if len(b) > MaxPlan {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrPlan, len(b), MaxPlan)
	}
	d := wire.NewReader(b)
	// The form of the rest depends on the version. So a session of another version is refused here, with an error about the
	// version.
	fields := d.Array()
	if v, s := d.Uint(), d.Uint(); d.Err() == nil && (v != version || s != semantics) {
		return nil, fmt.Errorf(
			"%w: it has form %d and semantics %d, this program knows %d and %d; use the same version of Posta for the command and all nodes",
			ErrPlan, v, s, version, semantics)
	}
	if fields != 10 {
		d.Fail("%d fields", fields)
	}
	p := &Session{Text: d.String(), Asks: d.String(), Outline: d.String()}
	n := d.Array()
	if d.Err() == nil && (n < 1 || n > MaxShared) {
		d.Fail("%d statements", n)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		p.Roots = append(p.Roots, exec.Root{Name: d.String(), Pass: d.Bool()})
	}
	if d.Err() == nil && (oneLine(p.Asks) != p.Asks || oneLine(p.Outline) != p.Outline) {
		d.Fail("what it asks is not a line")
	}
	for n := d.Array(); n > 0 && d.Err() == nil; n-- {
		p.Tables = append(p.Tables, readTable(&d))
	}
	p.PartitionFrom, p.Small = min(d.Int(), mostBytes), min(d.Int(), MaxReference)
	packed, made := d.Bool(), d.Bytes()
	err := d.Done()
	if err == nil {
		p.tables = tablesOf(p.Tables)
		err = p.readPlans(packed, made)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPlan, err)
	}
	return p, nil
}

// readPlans reads the plans of the session.
func (p *Session) readPlans(packed bool, b []byte) (err error) {
	if packed {
		if n, err := s2.DecodedLen(b); err != nil || n > maxUnpacked {
			return errors.Join(fmt.Errorf("its plans have %d bytes, at most %d are taken", n, maxUnpacked), err)
		}
		if b, err = s2.Decode(nil, b); err != nil {
			return err
		}
	}
	plans, ids, err := plan.Decode(b, p.tables, len(p.Text), functions.Declared)
	if err != nil {
		return err
	}
	if len(plans) != len(p.Roots) {
		return fmt.Errorf("it has %d plans of %d statements", len(plans), len(p.Roots))
	}
	names := map[string]bool{}
	for i := range p.Roots {
		r := &p.Roots[i]
		if r.Plan = plans[i]; names[r.Name] {
			return fmt.Errorf("two statements are called %s", r.Name)
		}
		names[r.Name] = true
		if r.Pass && (len(r.Plan.Fields()) != 1 || !values.Ordered(r.Plan.Fields()[0].Type.Kind)) {
			return fmt.Errorf("the pass of statement %s has not one column of values", r.Name)
		}
	}
	p.ids = *ids
	return nil
}

// readTable reads a table of a session.
func readTable(d *wire.Reader) catalog.Table {
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
	return t
}

// tablesOf returns tables in the form of package plan.
func tablesOf(list []catalog.Table) []plan.Table {
	out := make([]plan.Table, len(list))
	for i, t := range list {
		out[i] = plan.Table{Name: t.Name, File: t.File}
		for _, c := range t.Columns {
			out[i].Fields = append(out[i].Fields, plan.Field{Name: c.Name, Type: c.Type})
		}
	}
	return out
}
