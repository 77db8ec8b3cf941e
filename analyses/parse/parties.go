package parse

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// party is a party of a stream in one file. It reads the row again, from its text, with its own columns and its own parser, so it
// finds what it would find alone. It gets only the few rows that the stream's parser does not take.
type party struct {
	name    string
	comma   byte
	mapping csv.Mapping
	scanner csv.Scanner
	row     func(fields [][]byte) error
	builder *batch.Builder // its rows are discarded
}

// newParties returns the parties of a stream in a file.
func newParties(s *analyses.Stream, file analyses.File, header []byte) ([]*party, error) {
	var all []*party
	for i := range s.Parties {
		of := &s.Parties[i]
		own := analyses.Stream{Comma: s.Comma, Columns: of.Columns}
		mapping, err := own.Mapping(header)
		if err != nil {
			return nil, err
		}
		p := &party{name: of.Name, comma: s.Comma, mapping: mapping, builder: batch.NewBuilder(of.Schema)}
		file.Line, file.Quoted = p.scanner.Line, p.scanner.Quoted()
		p.row = of.NewParser(file, p.builder)
		all = append(all, p)
	}
	return all, nil
}

// takes returns the reason why the party does without a row; nil if it takes the row.
func (p *party) takes(text []byte, line uint64) error {
	p.builder.Reset()
	if len(text) == 0 {
		text = []byte{'\n'} // a blank line is a row of one column, and nothing is none
	}
	p.scanner.Reset(text, p.comma, p.mapping, line)
	if !p.scanner.Next() {
		return fmt.Errorf("%w: a row is empty for %s, and not for others", batch.ErrSpec, p.name)
	}
	if err := rowError(p.scanner.Err()); err != nil {
		return err
	}
	return p.row(p.scanner.Fields())
}

// share asks the parties about a row that the stream's parser has not taken, and appends it for those that take it. taken
// reports whether there is such a party. An error fails the session.
func (p *FileParser) share(rows int) (taken bool, err error) {
	text, line := p.scan.Row(), p.scan.Line()
	for i := range p.reasons {
		p.reasons[i] = p.parties[i].takes(text, line)
		switch reason := p.reasons[i]; {
		case reason == nil:
			taken = true
			continue
		case analyses.IsFailing(reason), errors.Is(reason, batch.ErrSpec):
			return false, reason
		case errors.Is(reason, analyses.ErrSkip):
			p.reasons[i] = nil
		}
		p.missing |= 1 << i
	}
	if taken {
		fields, _ := p.fields()
		err = p.row(fields)
	}
	p.missing = 0
	if err != nil {
		p.builder.Truncate(rows)
		return false, fmt.Errorf("%w: a row that a statement takes is refused: %w", batch.ErrSpec, err)
	}
	return taken, nil
}

// count counts the row for each party that has rejected it.
func (p *FileParser) count(rejects *analyses.Rejects) {
	for i, reason := range p.reasons {
		if reason == nil {
			continue
		}
		if rejects.Parties == nil {
			rejects.Parties = make([]analyses.Rejects, len(p.parties))
		}
		of := &rejects.Parties[i]
		before := of.Rows
		reject(of, p.file.Name, p.scan.Line(), reason)
		rejects.Rows += of.Rows - before
		if p.OnReject != nil {
			p.OnReject(p.parties[i].name, p.scan.Line(), p.scan.Row(), reason)
		}
	}
}
