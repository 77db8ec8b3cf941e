package question

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/infer"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/internal/units"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// table is a table of the question. sampled is nil if its columns are declared.
type table struct {
	catalog.Table
	sampled          *infer.Table
	files            int
	bytes            int64
	estimate         int64         // bytes of the table as plain CSV; 0 if unknown
	lines, lineBytes int64         // of the samples: how many lines they have, and how many bytes these have
	typedRows        int64         // of the files that declare the types of their columns
	typedBytes       []columnBytes // of these files
	typedOnly        bool          // all files are of that kind
	loose            bool          // rows may lack columns
	missing          bool          // files may lack columns, by an option
	aboutCSV         *syntax.Ident // the first option that means nothing in files of other formats; nil if there is none
	widened          []string      // columns that got a wider type
	stamps           map[string]protocol.Stamp
	once             bool     // it can be read once only, because it is a pipe, or has one among its files
	with             []string // the options that Declaration repeats
	encodings        []string // notes about files that are not UTF-8
}

// stdinOnce refuses two tables that would both be standard input.
func (q *Question) stdinOnce() error {
	first := ""
	for _, n := range q.cfg.Input.Named {
		switch {
		case n.Path != "-" || !slices.ContainsFunc(q.tables, func(t *table) bool { return t.names(n) }):
		case first != "" && first != n.As:
			return fmt.Errorf("%w: tables %s and %s are both standard input, which can be read once: write it to a file", client.ErrInput, first,
				n.As)
		default:
			first = n.As
		}
	}
	return nil
}

// names reports whether a named file belongs to the table.
func (t *table) names(n client.Named) bool {
	fits, _ := path.Match(t.Files, n.As)
	return fits || n.As == t.Name
}

// Unused returns the files that were named for tables that no statement reads.
func (q *Question) Unused() (unused []client.Named) {
	for _, n := range q.cfg.Input.Named {
		if !slices.ContainsFunc(q.tables, func(t *table) bool { return t.names(n) }) {
			unused = append(unused, n)
		}
	}
	return unused
}

// NoTable refuses a file to be written that is a file of a table, or would be read as one.
func (q *Question) NoTable(ctx context.Context, file string) error {
	there, err := os.Stat(file)
	if err != nil {
		there = nil
	}
	for _, t := range q.tables {
		is := t.wouldHave(q.cfg.Input, file)
		if there != nil {
			stamps, err := q.cfg.Input.Stamps(ctx, t.stream())
			if err != nil {
				return err
			}
			for path := range stamps {
				other, err := os.Stat(path)
				is = is || err == nil && os.SameFile(there, other)
			}
		}
		if is {
			return fmt.Errorf("%w: %s is a file of table %s, and would be lost; give another file", client.ErrInput, file, t.Name)
		}
	}
	return nil
}

// wouldHave reports whether a table would read a file if the file existed.
func (t *table) wouldHave(in *client.Input, file string) bool {
	if slices.ContainsFunc(in.Named, t.names) {
		return false
	}
	return slices.ContainsFunc(in.Dirs(), func(dir string) bool {
		full, err := filepath.Abs(file)
		root, bad := filepath.Abs(dir)
		rel, apart := filepath.Rel(root, full)
		if errors.Join(err, bad, apart) != nil {
			return false
		}
		at, name := path.Split(filepath.ToSlash(rel))
		says, _ := source.Match(path.Base(t.Files), name)
		fits, _ := path.Match(t.Files, at+says.Plain)
		return fits
	})
}

// stream returns the stream by which a client finds the files of a table.
func (t *table) stream() protocol.Stream { return protocol.Stream{Name: t.Name, Files: t.Files} }

// declare handles a CREATE TABLE.
func (q *Question) declare(ctx context.Context, c *syntax.CreateTable) error {
	if c.Files == nil || len(c.Columns) == 0 {
		return q.fail(c.Name.At, "a declared table needs files and columns", "Write CREATE TABLE t FROM 'pattern' (column TYPE, …).")
	}
	t := &table{Table: catalog.Table{Name: c.Name.Name, Files: c.Files.Value, Comma: q.cfg.Input.Comma}}
	if t.Files == StandardInput {
		t.Files = stdinName
		q.name(t.Name, StandardInput)
	}
	q.spell(t)
	var stars []string
	if t.Files, stars = starsOf(t.Files); strings.ContainsAny(t.Files, "{}") {
		return q.fail(c.Files.At, fmt.Sprintf("the braces in '%s' do not name columns", c.Files.Value),
			"Write '{city}/trips.csv' for a column city of what stands there.")
	}
	if err := q.checkPattern(t.Files, c.Files.At); err != nil {
		return err
	}
	for _, d := range c.Columns {
		typ, _, err := types.Parse(strings.ToUpper(d.Type.Name), d.Type.Args, d.Type.List)
		if err != nil {
			hint := ""
			if e := (*types.Error)(nil); errors.As(err, &e) {
				hint = e.Hint
			}
			return q.fail(d.Type.At, err.Error(), hint)
		}
		if !catalog.Readable(typ) {
			return q.fail(d.Type.At, fmt.Sprintf("no file has columns of type %s", typ), "Write TEXT, and convert in the statement.")
		}
		t.Columns = append(t.Columns, catalog.Column{Name: d.Name.Name, Type: typ})
	}
	for i, name := range stars {
		if name == "" {
			continue
		}
		if slices.ContainsFunc(t.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) }) {
			return q.fail(c.Files.At, fmt.Sprintf("there are two columns %s: one of the files, one of their path", name), "")
		}
		t.Columns = append(t.Columns, catalog.Column{Name: name, Type: types.Of(types.Text), Star: i + 1})
	}
	if err := q.options(t, c.Options); err != nil {
		return err
	}
	t.estimate = q.cfg.Input.Bytes(ctx, t.stream())
	q.tables = append(q.tables, t)
	return nil
}

// starsOf replaces each {name} of a pattern by a star. It returns the name of each star; "" for those that were stars before.
func starsOf(pattern string) (files string, names []string) {
	var b strings.Builder
	for pattern != "" {
		i := strings.IndexAny(pattern, "{*")
		if i < 0 {
			break
		}
		b.WriteString(pattern[:i])
		pattern = pattern[i:]
		end := strings.IndexByte(pattern, '}')
		switch {
		case pattern[0] == '*':
			names, end = append(names, ""), 0
		case end > 1 && !strings.ContainsAny(pattern[1:end], "{*/"):
			names = append(names, pattern[1:end])
		default: // this is not a name: the text stays, and is refused later
			return b.String() + pattern, names
		}
		b.WriteByte('*')
		pattern = pattern[end+1:]
	}
	return b.String() + pattern, names
}

// find finds the files of a table that a statement names. If it finds none, the binder refuses the name later, unless it is a name of WITH.
func (q *Question) find(ctx context.Context, n *syntax.Table) error {
	name := n.Name.Name
	if slices.ContainsFunc(q.tables, func(t *table) bool {
		return t.File == n.File && (t.Name == name || !n.File && strings.EqualFold(t.Name, name))
	}) {
		return nil
	}
	if n.Read != nil {
		declared, err := q.reader(ctx, n)
		if declared || err != nil {
			return err
		}
	}
	t := &table{Table: catalog.Table{Name: name, File: n.File, Files: name, Comma: q.cfg.Input.Comma}, sampled: &infer.Table{}}
	if n.Read != nil {
		name = n.Read.Args[0].X.(*syntax.String).Value
		var options []syntax.Option
		for _, o := range n.Read.Args[1:] {
			options = append(options, syntax.Option{Name: o.Name, Value: o.X})
		}
		if err := q.options(t, options); err != nil {
			return err
		}
		t.sampled.Nulls = t.Nulls
	}
	if known, err := q.nameFiles(t, n, name); !known || err != nil {
		return err
	}
	stream := t.stream()
	stream.Comma = t.Comma
	samples, err := q.cfg.Input.Sampled(ctx, stream, t.Form)
	if errors.Is(err, client.ErrNoFiles) && !slices.ContainsFunc(q.cfg.Input.Named, t.names) {
		where := "no file below " + strings.Join(q.cfg.Input.Dirs(), " or ")
		if len(q.cfg.Input.Dirs()) == 0 {
			where = "there is no --data DIR, and no --file"
		}
		return q.fail(n.Name.At, fmt.Sprintf("%s fits '%s'", where, t.Files), q.hint())
	}
	if err != nil {
		return err
	}
	named := slices.ContainsFunc(q.cfg.Input.Named, t.names)
	for _, s := range samples {
		if fits, err := path.Match(path.Base(name), filepath.Base(s.Path)); n.File && !named && t.Files != name && err == nil && !fits {
			return q.fail(n.Name.At, fmt.Sprintf("'%s' and %s are not told apart", name, s.Path),
				"Packed files are read as those without .gz or the like in their names are; bring these to another directory.")
		}
		if err := q.take(t, n, &s); err != nil {
			return err
		}
	}
	if t.estimate = q.cfg.Input.Bytes(ctx, t.stream()); t.bytes == 0 {
		t.bytes = t.estimate // the data came from a pipe that has ended
	}
	q.tables = append(q.tables, t)
	return nil
}

// nameFiles says which files a table has that a statement names. known is false if there is no such table.
func (q *Question) nameFiles(t *table, n *syntax.Table, name string) (known bool, err error) {
	switch {
	case n.File && name == StandardInput:
		t.Files = stdinName
		q.name(name, StandardInput)
	case n.File:
		if err := q.checkPattern(name, n.Name.At); err != nil {
			return false, err
		}
		t.Files = client.PlainPattern(name)
	case q.spell(t):
		t.Files = t.Name + "/*"
		if slices.Contains(q.cfg.Input.Named, client.Named{As: t.Name, Path: "-"}) {
			t.Files = t.Name // standard input has no name that a star could match
		}
	default:
		if t.Files = q.filesOf(name); t.Files == "" {
			if t.Name = q.inCase(name); t.Name == "" {
				return false, nil
			}
			t.Files = q.filesOf(t.Name)
		}
	}
	return true, nil
}

// take takes the sample of a file into what is known of its table.
func (q *Question) take(t *table, n *syntax.Table, s *client.Sample) error {
	isCSV := !s.Declared && s.Keys == nil
	t.typedOnly = t.typedOnly && s.Declared
	switch {
	case s.Declared:
		t.typedOnly = t.typedOnly || t.files == 0
		t.sampled.Typed(typed(s.Typed))
		t.typedRows += s.Rows
		for _, c := range s.Typed {
			t.typedBytes = append(t.typedBytes, columnBytes{c.Name, c.Bytes})
		}
	case s.Keys != nil:
		t.sampled.Keys(s.Keys)
		t.loose = true
	default:
		if err := t.sampled.File(s.Name, s.Header); err != nil {
			return err
		}
	}
	if t.aboutCSV != nil && !isCSV {
		return q.fail(t.aboutCSV.At, fmt.Sprintf("%s is not CSV, and the option %s is about CSV", s.Path, t.aboutCSV.Name),
			"Leave the option out.")
	}
	if isCSV {
		if err := q.misfit(t, n.Name.At, s); err != nil {
			return err
		}
	}
	if note := notUTF8(s); note != "" {
		t.encodings = append(t.encodings, note)
	}
	for i, records := range s.Records {
		place := infer.Place{File: s.Path, Line: s.Line}
		if i > 0 {
			place.Line, place.Offset = min(1, uint64(s.Offsets[i])), s.Offsets[i]
		}
		if s.Keys != nil {
			t.sampled.ObjectsAt(place, s.Keys, s.Header, records)
		} else {
			t.sampled.RowsAt(place, s.Header, records)
		}
		t.lines += int64(bytes.Count(records, []byte{'\n'}))
		t.lineBytes += int64(len(records))
	}
	t.files++
	t.bytes += max(0, s.Size)
	return nil
}

// typed returns the columns of a file that declares their types.
func typed(columns []format.Column) []infer.Column {
	all := make([]infer.Column, len(columns))
	for i, c := range columns {
		all[i] = infer.Column{Name: c.Name, Type: c.Type, Declared: true, Why: c.Why}
	}
	return all
}

// misfit refuses a file in which most rows have another number of fields than the header, because all of them would be rejected. Most often
// lines with a title stand above the header.
func (q *Question) misfit(t *table, at syntax.Pos, s *client.Sample) error {
	if len(s.Records) == 0 || t.Form.Headless {
		return nil
	}
	m := infer.FindMisfit(s.Header, s.Records[0], s.Line)
	if m == nil {
		return nil
	}
	message := fmt.Sprintf("%s: its first line has %s, and most lines below have %d", s.Path, units.Plural(m.Need, "field"), m.Have)
	if m.Comma != 0 {
		message += " that are separated by " + csv.SeparatorName(m.Comma)
	}
	hint := "Write the names of all columns into the first line of the file."
	if m.Have > m.Need {
		hint = fmt.Sprintf("If the lines above line %d are a title, leave them out: read_csv('%s', skip = %d).", m.Line,
			strings.ReplaceAll(t.Files, "'", "''"), m.Line-1)
	}
	return q.fail(at, message, hint)
}

// reader declares the table of a call like read_csv('pattern', columns = {'a': 'BIGINT'}). declared is false if the call names no columns.
func (q *Question) reader(ctx context.Context, n *syntax.Table) (declared bool, err error) {
	if files := n.Read.Args[0].X.(*syntax.String); files.Value == StandardInput {
		return false, q.fail(files.At, "standard input is read without options here",
			"Write FROM '-', or CREATE TABLE t FROM '-' (column TYPE, …) WITH (…).")
	}
	c := &syntax.CreateTable{Name: n.Name, Files: n.Read.Args[0].X.(*syntax.String)}
	for _, o := range n.Read.Args[1:] {
		if !strings.EqualFold(o.Name.Name, "columns") && !strings.EqualFold(o.Name.Name, "types") && !strings.EqualFold(o.Name.Name, "dtypes") {
			c.Options = append(c.Options, syntax.Option{Name: o.Name, Value: o.X})
			continue
		}
		given, ok := o.X.(*syntax.Struct)
		if !ok || len(given.Fields) == 0 || !strings.EqualFold(o.Name.Name, "columns") {
			return false, q.fail(o.Name.At, fmt.Sprintf("the option %s is not supported with this value", o.Name.Name),
				"Write columns = {'name': 'TYPE', …} with all columns that are read.")
		}
		for _, f := range given.Fields {
			text, ok := f.X.(*syntax.String)
			if !ok {
				return false, q.fail(f.X.Pos(), "a type stands in quotes here", "Write columns = {'name': 'TYPE', …}.")
			}
			typ, err := syntax.ParseType(text.Value)
			if err != nil {
				return false, q.fail(text.At, err.Error(), "")
			}
			typ.At = text.At
			c.Columns = append(c.Columns, syntax.ColumnDef{Name: f.Name, Type: typ})
		}
	}
	if len(c.Columns) == 0 {
		return false, nil
	}
	if err := q.declare(ctx, c); err != nil {
		return false, err
	}
	q.tables[len(q.tables)-1].File = true
	return true, nil
}

// rows estimates how many rows a table has, from the records of its samples; 0 if there are no samples.
func (t *table) rows() int64 {
	switch {
	case t.typedRows > 0:
		return t.typedRows
	case t.lines == 0:
		return 0
	}
	return max(1, t.estimate/max(1, t.lineBytes/t.lines))
}
