package exec

import (
	"fmt"
	"slices"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/bounds"
	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/field"
	"posta.dev/posta/analyses/sql/infer"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
)

// Scan is a table that leaves read: a stream of the analysis.
type Scan struct {
	Of     *plan.Table
	Table  *catalog.Table
	Stream int
	Used   []bool         // columns of the table, then _file and _line
	Wanted []int          // columns of the table that are read, in order
	Stars  []int          // columns that are read and are parts of the file's name
	File   bool           // _file is read
	Line   bool           // _line is read
	Apart  bool           // the statements that share the scan may reject different rows
	Within bounds.Bounds  // by column of the table: the bounds that WHERE sets for its values
	Lines  []bounds.Lines // the conditions that WHERE sets for the place of a row
	Where  Conditions     // what WHERE says of single columns, if no row can be rejected and nothing else reads the table
	Alone  []Reading      // by statement that shares the scan: what it reads alone
}

// Reading is what a statement would read of a table alone.
type Reading struct {
	Root int // index of the statement
	Scan *Scan
}

// nullsIn is how many columns share one column of NULL bits.
const nullsIn = 62

// A batch has a column for each of wanted, then the columns of their NULL bits, then the line, if it is read. If the statements of
// a scan may reject different rows, the last column is the analyses.Missing of each row. The names of the columns are numbers,
// because the names in a file may be longer than a batch allows.
func (s *Scan) Describe() (analyses.Stream, error) {
	st := analyses.Stream{Name: s.Table.Name, Files: s.Table.Files, Comma: s.Table.Comma}
	st.Form = s.Table.Form
	for k, i := range s.Wanted {
		c := s.Table.Columns[i]
		if c.Type.Kind == types.Null {
			return st, fmt.Errorf("column %s of table %s is not read", c.Name, s.Table.Name) // only a DESCRIBE, which no cluster answers, gets here
		}
		st.Columns = append(st.Columns, csv.Column{Name: c.Name, Distinct: true, Optional: c.Missing, Key: c.Key, Keyed: c.Keyed})
		st.Schema = append(st.Schema, batch.FieldSpec{Name: fmt.Sprintf("c%d", k), Kind: batchKind(c.Type.Kind)})
	}
	for k := 0; k*nullsIn < len(s.Wanted) || k == 0; k++ {
		st.Schema = append(st.Schema, batch.FieldSpec{Name: fmt.Sprintf("n%d", k), Kind: batch.Int})
	}
	if s.Line {
		st.Schema = append(st.Schema, batch.FieldSpec{Name: "line", Kind: batch.Int})
	}
	if s.Apart {
		st.Schema = append(st.Schema, batch.FieldSpec{Name: "missing", Kind: batch.Int})
	}
	if len(st.Columns) == 0 { // the statement only counts rows
		name := ""
		for _, c := range s.Table.Columns {
			if c.Star == 0 && name == "" {
				name = c.Name
			}
		}
		st.Columns = []csv.Column{{Name: name, Distinct: true, Optional: true, Unused: true}}
	}
	if len(st.Schema) > batch.MaxColumns {
		return st, fmt.Errorf(
			"the statement reads %d columns of table %s, and at most %d travel at once: name those that are needed in place of *", len(s.Wanted),
			s.Table.Name, batch.MaxColumns-6)
	}
	st.Skips, st.Lines, st.Tests = s.skips(), s.lines(), s.tests()
	return st, nil
}

func batchKind(k types.Kind) batch.Kind {
	switch k {
	case types.Double:
		return batch.Float
	case types.Text:
		return batch.Dict
	}
	return batch.Int
}

// Parser returns the function that reads the rows of a file (analyses.Analysis.NewParser).
func (s *Scan) Parser(file analyses.File, b *batch.Builder) func(fields [][]byte) error {
	if s.Table.Nulls == nil || file.Cells != nil {
		return s.rowReader(file, b)
	}
	quoted, texts := file.Quoted, new(csv.Bits)
	file.Quoted = texts // an empty text that is no NULL counts as quoted
	read := s.rowReader(file, b)
	return func(fields [][]byte) error {
		texts.Reset(len(fields))
		for i, p := range fields {
			switch {
			case s.Table.Nulls.Null(p, quoted.Has(i)):
				fields[i] = nil
			case len(p) == 0:
				texts.Add(i)
			}
		}
		return read(fields)
	}
}

// fieldReaders returns the readers of all columns: first the bounded ones, by which rows can be skipped.
func (s *Scan) fieldReaders(file analyses.File, b *batch.Builder) (readers []fieldReader) {
	for _, bounded := range []bool{true, false} {
		for k, i := range s.Wanted {
			if w := s.within(i); w != nil == bounded {
				r := s.reader(&s.Table.Columns[i], w, b, k)
				r.cell = file.Cells.Column(k, askOf(s.Table.Columns[i].Type))
				readers = append(readers, r)
			}
		}
	}
	return readers
}

// masks returns the columns of NULL bits. There is one even if no column is read.
func (s *Scan) masks(b *batch.Builder) []*batch.IntBuilder {
	masks := make([]*batch.IntBuilder, max(1, (len(s.Wanted)+nullsIn-1)/nullsIn))
	for k := range masks {
		masks[k] = b.Int(len(s.Wanted) + k)
	}
	return masks
}

func (s *Scan) rowReader(file analyses.File, b *batch.Builder) func(fields [][]byte) error {
	readers := s.fieldReaders(file, b)
	bits := make([]int64, (len(s.Wanted)+nullsIn-1)/nullsIn)
	end := s.rowEnd(file, b, bits)
	return func(fields [][]byte) error {
		clear(bits)
		for i := range readers {
			r := &readers[i]
			p := fields[r.column]
			if r.cell.OK {
				if !r.known() {
					return analyses.ErrSkip
				}
				continue
			}
			if len(p) > 0 {
				var v int64
				known := false
				switch r.usual {
				case types.Text:
					r.texts.Append(p)
					continue
				case types.Double:
					if v, ok := csv.ParseFloat(p); ok {
						r.doubles.Append(v)
						continue
					}
				case types.Decimal:
					v, known = field.Decimal(p, r.decimal)
				case types.BigInt:
					v, known = csv.ParseInt(p)
				case types.Date:
					v, known = csv.ParseDate(p)
				case types.Timestamp:
					v, known = field.Timestamp(p)
				}
				if known {
					if r.bounded && !r.within.Number(uint64(v)^1<<63) {
						return analyses.ErrSkip
					}
					r.ints.Append(v)
					continue
				}
			} else if field.IsNull(p, file.Quoted.Has(r.column)) {
				if r.bounded {
					return analyses.ErrSkip
				}
				bits[r.column/nullsIn] |= 1 << (r.column % nullsIn)
				r.zero()
				continue
			}
			if err := r.read(p); err != nil {
				if !s.Apart || *file.Missing == 0 {
					return err
				}
				bits[r.column/nullsIn] |= 1 << (r.column % nullsIn) // no statement that takes the row reads this column
				r.zero()
			}
		}
		end()
		return nil
	}
}

// rowEnd returns a function that appends what a row has beside its fields: which of them are NULL, its line, and which parties it is
// missing for.
func (s *Scan) rowEnd(file analyses.File, b *batch.Builder, nulls []int64) func() {
	masks := s.masks(b)
	var lines, missing *batch.IntBuilder
	if s.Line {
		lines = b.Int(len(s.Wanted) + len(masks))
	}
	if s.Apart {
		missing = b.Int(s.missingColumn())
	}
	return func() {
		if len(nulls) == 0 {
			masks[0].Append(0)
		}
		for k, v := range nulls {
			masks[k].Append(v)
		}
		if lines != nil {
			lines.Append(int64(file.Line()))
		}
		if missing != nil {
			missing.Append(int64(*file.Missing))
		}
	}
}

// missingColumn returns the column of a batch with the analyses.Missing of each row.
func (s *Scan) missingColumn() int {
	n := len(s.Wanted) + max(1, (len(s.Wanted)+nullsIn-1)/nullsIn)
	if s.Line {
		n++
	}
	return n
}

// fieldReader reads one column. Values in the usual form are read without an indirect call.
type fieldReader struct {
	column  int
	usual   types.Kind           // of values that are read without an indirect call; Null: none
	decimal types.Type           // of a DECIMAL
	read    func(p []byte) error // reads values that are neither NULL nor in the usual form
	zero    func()               // appends a placeholder for a NULL

	bounded bool
	within  *bounds.Range  // the bounds that WHERE sets
	cell    *columnar.Cell // has values that are known without their text

	// one of these takes the values
	texts   *batch.DictBuilder
	ints    *batch.IntBuilder
	doubles *batch.FloatBuilder
}

// known appends the value of the cell. It returns false for a value that WHERE excludes.
func (r *fieldReader) known() bool {
	if r.doubles != nil {
		if r.bounded && !r.within.Number(eval.SortableDouble(r.cell.Float)) {
			return false
		}
		r.doubles.Append(r.cell.Float)
		return true
	}
	if r.bounded && !r.within.Number(uint64(r.cell.Int)^1<<63) {
		return false
	}
	r.ints.Append(r.cell.Int)
	return true
}

// askOf returns what readers ask columnar cells about a column of a type. For TEXT they ask nothing, because each text is
// itself the value.
func askOf(t types.Type) columnar.Ask {
	ints := func(kind columnar.Kind, parse func([]byte) (int64, bool)) columnar.Ask {
		return columnar.Ask{Kind: kind, Parse: func(p []byte) (c columnar.Cell, ok bool) {
			c.Int, ok = parse(p)
			return c, ok
		}}
	}
	switch t.Kind {
	case types.BigInt:
		return ints(columnar.Int, field.BigInt)
	case types.Date:
		return ints(columnar.Days, field.Date)
	case types.Timestamp:
		return ints(columnar.Micros, field.Timestamp)
	case types.Decimal:
		a := ints(columnar.Decimal(int(t.Scale)), func(p []byte) (int64, bool) { return field.Decimal(p, t) })
		a.Most = field.Powers[t.Precision] - 1
		return a
	case types.Bool:
		return ints(columnar.Bool, boolean)
	case types.Double:
		return columnar.Ask{Kind: columnar.Float, Parse: func(p []byte) (c columnar.Cell, ok bool) {
			c.Float, ok = field.Double(p)
			return c, ok
		}}
	}
	return columnar.Ask{}
}

// parserOf returns the function that reads values of a type that are integers in a batch; nil for TEXT and DOUBLE.
func parserOf(t types.Type) func(p []byte) (int64, bool) {
	switch t.Kind {
	case types.BigInt:
		return field.BigInt
	case types.Date:
		return field.Date
	case types.Timestamp:
		return field.Timestamp
	case types.Decimal:
		return func(p []byte) (int64, bool) { return field.Decimal(p, t) }
	case types.Bool:
		return boolean
	}
	return nil
}

// Unheld says that a column of a typed file has a value that is not of the type which the file declares, or for which SQL has no type that
// holds it.
type Unheld struct {
	Table, Column string
	Type          types.Type
	Value         string
}

func (u *Unheld) Error() string {
	return fmt.Sprintf(
		"column %q of table %q has the value %q, which a %s does not hold; read it as text: CREATE TABLE t FROM 'file' (%s TEXT)",
		u.Column, u.Table, u.Value[:min(len(u.Value), 40)], u.Type, syntax.PrintName(u.Column))
}

// boolean reads a BOOLEAN as 0 or 1.
func boolean(p []byte) (int64, bool) {
	v, ok := field.Bool(p)
	if v {
		return 1, ok
	}
	return 0, ok
}

// reader returns the reader of column k of a batch.
func (s *Scan) reader(c *catalog.Column, w *bounds.Range, b *batch.Builder, k int) fieldReader {
	r := fieldReader{column: k, bounded: w != nil, within: w}
	switch batchKind(c.Type.Kind) {
	case batch.Int:
		r.ints = b.Int(k)
	case batch.Float:
		r.doubles = b.Float(k)
	case batch.Dict:
		r.texts = b.Dict(k)
	}
	r.read, r.zero = s.readers(c, w, b, k)
	switch k := c.Type.Kind; {
	case k == types.BigInt, k == types.Date, k == types.Timestamp:
		r.usual = k
	case k == types.Decimal:
		r.usual, r.decimal = k, c.Type
	case !r.bounded && (k == types.Text || k == types.Double):
		r.usual = k
	}
	return r
}

func (s *Scan) readers(c *catalog.Column, w *bounds.Range, b *batch.Builder, k int) (read func([]byte) error, zero func()) {
	bad := func(p []byte) error {
		if wider := wider(c.Type.Kind, p); c.Inferred && wider != types.Null {
			return analyses.Fails(&infer.Wider{Table: s.Table.Name, Column: c.Name, Was: c.Type.Kind, Is: wider, Value: string(p)})
		}
		if c.Typed {
			return analyses.Fails(&Unheld{s.Table.Name, c.Name, c.Type, string(p)})
		}
		return analyses.BadField(c.Name, p, "a "+c.Type.String())
	}
	ints := func(parse func([]byte) (int64, bool)) (func([]byte) error, func()) {
		out := b.Int(k)
		return func(p []byte) error {
			v, ok := parse(p)
			if !ok {
				return bad(p)
			}
			if !w.Number(uint64(v) ^ 1<<63) {
				return analyses.ErrSkip
			}
			out.Append(v)
			return nil
		}, func() { out.Append(0) }
	}
	switch parse := parserOf(c.Type); {
	case c.Typed && c.Type.Kind == types.Date: // only typed files have years of any number of digits
		return ints(field.AnyDate)
	case c.Typed && c.Type.Kind == types.Timestamp:
		return ints(field.AnyTimestamp)
	case parse != nil:
		return ints(parse)
	}
	if c.Type.Kind == types.Double {
		out := b.Float(k)
		return func(p []byte) error {
			v, ok := field.Double(p)
			if !ok {
				return bad(p)
			}
			if w != nil && !w.Number(eval.SortableDouble(v)) {
				return analyses.ErrSkip
			}
			out.Append(v)
			return nil
		}, func() { out.Append(0) }
	}
	out := b.Dict(k)
	if w != nil {
		return func(p []byte) error {
			if !w.Text(p) {
				return analyses.ErrSkip
			}
			out.Append(p)
			return nil
		}, func() { out.Append(nil) }
	}
	return func(p []byte) error { out.Append(p); return nil }, func() { out.Append(nil) }
}

// wider returns the type that holds this value and all values of type was. It returns Null for a value of a type that samples
// cannot have missed.
func wider(was types.Kind, p []byte) types.Kind {
	is := field.KindOf(p)
	if was == types.BigInt && is == types.Double || was == types.Date && is == types.Timestamp {
		return is
	}
	return types.Null
}

// columns reads batches of one scan as vectors. It reuses the vectors for the next rows.
type columns struct {
	scan    *Scan
	vector  []*eval.Vector // by column of the table, then _file and _line; nil: not read
	windows []*eval.Vector // for each of vector, some of its rows
	copies  []copies       // by column of a batch
	masks   [][]int64
	some    []int64 // the OR of each of masks
	missing []int64 // the analyses.Missing of each row, if statements may reject different rows; nil if it is 0 for all
}

func newColumns(s *Scan) *columns {
	c := &columns{scan: s, vector: make([]*eval.Vector, len(s.Table.Columns)+2)}
	for _, i := range s.Wanted {
		c.vector[i] = &eval.Vector{Kind: s.Table.Columns[i].Type.Kind}
	}
	for _, i := range s.Stars {
		c.vector[i] = &eval.Vector{Kind: types.Text}
	}
	if s.File {
		c.vector[len(s.Table.Columns)] = &eval.Vector{Kind: types.Text}
	}
	if s.Line {
		c.vector[len(s.Table.Columns)+1] = &eval.Vector{Kind: types.BigInt}
	}
	c.windows = make([]*eval.Vector, len(c.vector))
	for i, v := range c.vector {
		if v != nil {
			c.windows[i] = &eval.Vector{}
		}
	}
	c.masks = make([][]int64, (len(s.Wanted)+nullsIn-1)/nullsIn)
	c.some = make([]int64, len(c.masks))
	c.copies = make([]copies, s.missingColumn()+1)
	return c
}

// rows is what columns reads: a batch that has travelled, or one that a parser has just built.
type rows interface {
	Rows() int
	ints(k int, into *copies) []int64
	floats(k int, into *copies) []float64
	codes(k int, into *copies) []uint32
	texts(k int, into []string) []string // appends the entries of a dictionary
	views(k int) []string                // of all rows of a column of texts that has no dictionary; else nil
}

// copies has memory for the values of a column of a batch that has travelled, and for texts that are in a dictionary.
type copies struct {
	ints   []int64
	floats []float64
	codes  []uint32
	texts  []string
	dict   eval.Dict
}

// decoded is a batch. Reading copies the values of one that has travelled. Those of a view of a builder (batch.Builder.View) are valid
// until the builder changes.
type decoded struct{ *batch.Batch }

func (b decoded) ints(k int, into *copies) []int64 {
	v := b.Ints(k)
	if plain := v.Values(); plain != nil {
		return plain
	}
	into.ints = v.AppendTo(into.ints[:0])
	return into.ints
}

func (b decoded) floats(k int, into *copies) []float64 {
	v := b.Floats(k)
	if plain := v.Values(); plain != nil {
		return plain
	}
	into.floats = v.AppendTo(into.floats[:0])
	return into.floats
}

func (b decoded) codes(k int, into *copies) []uint32 {
	v := b.Dicts(k)
	if plain := v.Codes(); plain != nil {
		return plain
	}
	into.codes = v.AppendCodes(into.codes[:0])
	return into.codes
}

func (b decoded) texts(k int, into []string) []string {
	d := b.Dicts(k)
	for e := range d.Len() {
		into = append(into, field.Text(d.Entry(e)))
	}
	return into
}

func (b decoded) views(k int) []string { return b.Dicts(k).Views() }

// built is a parser's builder. Reading copies nothing: the values are valid until the builder changes.
type built struct{ *batch.Builder }

func (b built) ints(k int, _ *copies) []int64     { return b.Int(k).Values() }
func (b built) floats(k int, _ *copies) []float64 { return b.Float(k).Values() }
func (b built) codes(k int, _ *copies) []uint32   { return b.Dict(k).Codes() }
func (b built) views(k int) []string              { return b.Dict(k).Views() }

func (b built) texts(k int, into []string) []string {
	d := b.Dict(k)
	for e := range d.Len() {
		into = append(into, field.Text(d.Entry(e)))
	}
	return into
}

// load reads all rows. Texts, and all values that need no copy, are views into them.
func (c *columns) load(b rows, file analyses.File) {
	n := b.Rows()
	for k := range c.masks {
		c.masks[k], c.some[k] = b.ints(len(c.scan.Wanted)+k, &c.copies[len(c.scan.Wanted)+k]), 0
		for _, m := range c.masks[k] {
			c.some[k] |= m
		}
	}
	for k, i := range c.scan.Wanted {
		v := c.vector[i]
		c.nulls(v, k, n)
		switch v.Kind {
		case types.Double:
			v.Floats = b.floats(k, &c.copies[k])
		case types.Bool:
			v.Bools = slices.Grow(v.Bools[:0], n)[:n]
			for i, x := range b.ints(k, &c.copies[k]) {
				v.Bools[i] = x != 0
			}
		case types.Text:
			c.loadTexts(v, b, k, n)
		default:
			v.Ints = b.ints(k, &c.copies[k])
		}
	}
	for _, i := range c.scan.Stars {
		tag := ""
		if star := c.scan.Table.Columns[i].Star; star <= len(file.Tags) {
			tag = file.Tags[star-1]
		}
		c.repeat(c.vector[i], tag, n)
	}
	if v := c.vector[len(c.scan.Table.Columns)]; v != nil {
		c.repeat(v, file.Name, n)
	}
	if v := c.vector[len(c.scan.Table.Columns)+1]; v != nil {
		k := len(c.scan.Wanted) + max(1, len(c.masks))
		v.Ints = b.ints(k, &c.copies[k])
		c.clear(v, n)
	}
	if c.missing = nil; c.scan.Apart {
		k := c.scan.missingColumn()
		missing := b.ints(k, &c.copies[k])
		if slices.ContainsFunc(missing, func(m int64) bool { return m != 0 }) {
			c.missing = missing
		}
	}
}

// loadTexts reads column k of a batch of n rows.
func (c *columns) loadTexts(v *eval.Vector, b rows, k, n int) {
	own := &c.copies[k]
	if views := b.views(k); views != nil {
		v.Texts, v.Codes, v.Entries, v.Dict = views, nil, 0, nil
		return
	}
	d := &own.dict
	texts := b.texts(k, d.Texts[:0])
	*d = eval.Dict{Texts: texts, Rows: n, Batch: d.Batch + 1}
	v.Codes, v.Entries, v.Dict = b.codes(k, own), len(texts), d
	own.texts = slices.Grow(own.texts[:0], n)[:n]
	for i, code := range v.Codes {
		own.texts[i] = texts[code]
	}
	v.Texts = own.texts
}

// taken removes from sel, in place, the rows that one of the given statements rejects or skips. The first row of sel is row lo of
// the batch.
func (c *columns) taken(by analyses.Missing, sel []int32, lo int) []int32 {
	if c.missing == nil {
		return sel
	}
	kept := sel[:0]
	for _, i := range sel {
		if analyses.Missing(c.missing[lo+int(i)])&by == 0 {
			kept = append(kept, i)
		}
	}
	return kept
}

// repeat gives all rows the same text.
func (c *columns) repeat(v *eval.Vector, text string, n int) {
	v.Texts = v.Texts[:0]
	for range n {
		v.Texts = append(v.Texts, text)
	}
	if v.Entries = 1; cap(v.Codes) < n { // codes are 0 and stay 0
		v.Codes = make([]uint32, n)
	}
	v.Codes = v.Codes[:n]
	c.clear(v, n)
}

func (c *columns) clear(v *eval.Vector, n int) {
	for len(v.Nulls) < (n+63)/64 {
		v.Nulls = append(v.Nulls, 0)
	}
	v.Nulls = v.Nulls[:(n+63)/64]
	clear(v.Nulls)
	v.Any = false
}

// nulls sets the NULLs of the kth wanted column.
func (c *columns) nulls(v *eval.Vector, k, n int) {
	c.clear(v, n)
	shift := k % nullsIn
	if c.some[k/nullsIn]>>shift&1 == 0 {
		return
	}
	v.Any = true
	for i, m := range c.masks[k/nullsIn] {
		v.Nulls[i>>6] |= uint64(m>>shift&1) << (i & 63)
	}
}

// window returns the rows from lo up to hi of all columns. lo is a multiple of 64.
func (c *columns) window(lo, hi int) []*eval.Vector {
	for i, v := range c.vector {
		if v == nil {
			continue
		}
		w := c.windows[i]
		*w = eval.Vector{Kind: v.Kind, Any: v.Any, Nulls: v.Nulls[lo/64 : (hi+63)/64]}
		switch v.Kind {
		case types.Double:
			w.Floats = v.Floats[lo:hi]
		case types.Bool:
			w.Bools = v.Bools[lo:hi]
		case types.Text:
			w.Texts = v.Texts[lo:hi]
			if v.Codes != nil {
				w.Codes, w.Entries, w.Dict = v.Codes[lo:hi], v.Entries, v.Dict
			}
		default:
			w.Ints = v.Ints[lo:hi]
		}
	}
	return c.windows
}
