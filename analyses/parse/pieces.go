package parse

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
)

// ErrRowTooLarge is wrapped by the errors of [FileParser.Pieces]: a row takes more bytes than a piece may have.
var ErrRowTooLarge = errors.New("a row is too large")

// Pieces is Chunk for more rows than one message may carry: emit is called for each piece, while its rows are in Builder and Builder's wire
// form has at most maxBytes. line is the line on which the first row of the piece starts. A row that is larger than a piece is an error.
func (p *FileParser) Pieces(data []byte, firstLine uint64, maxBytes int, emit func(line uint64)) (rejects analyses.Rejects, err error) {
	p.builder.Reset()
	p.scanner.Reset(data, p.comma, p.mapping, firstLine)
	rows, line := 0, firstLine
	for p.scanner.Next() {
		p.done.Row()
		if err := p.addRow(rows); err != nil {
			rejects.Add(p.file.Name, p.scanner.Line(), err)
			continue
		}
		if rows > 0 && p.builder.Size() > maxBytes {
			p.builder.Truncate(rows)
			emit(line)
			p.builder.Reset()
			rows = 0
			if err := p.addRow(0); err != nil {
				return rejects, fmt.Errorf("line %d: the row is taken and then rejected: %w", p.scanner.Line(), err)
			}
		}
		if rows == 0 {
			line = p.scanner.Line()
			if err := p.fits(line, maxBytes); err != nil {
				return rejects, err
			}
		}
		rows++
	}
	if rows > 0 {
		emit(line)
	}
	return rejects, nil
}

// addRow adds the scanner's row behind those that are there, or takes it back and says why.
func (p *FileParser) addRow(rows int) error {
	err := p.scanner.Err()
	if err == nil {
		err = p.row(p.scanner.Fields())
	}
	if err != nil {
		p.builder.Truncate(rows)
	}
	return err
}

// fits says why the builder's only row is too large. Size is a bound, so a row that seems too large is measured.
func (p *FileParser) fits(line uint64, maxBytes int) error {
	if p.builder.Size() <= maxBytes {
		return nil
	}
	if size := len(p.builder.Append(nil)); size > maxBytes {
		return fmt.Errorf("%w: that on line %d takes %d bytes in a message, and limits.frame leaves %d for it: shorten it, or raise limits.frame in the topology and start the session again",
			ErrRowTooLarge, line, size, maxBytes)
	}
	return nil
}
