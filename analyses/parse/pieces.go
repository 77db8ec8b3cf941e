package parse

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
)

// ErrRowTooLarge is wrapped by the errors of [FileParser.Pieces]: a row takes more bytes than a piece may have.
var ErrRowTooLarge = errors.New("a row is too large")

// Pieces is Chunk for more rows than one message may carry. It calls emit for each piece, whose rows are then in Builder;
// their wire form has at most maxBytes. line is the line on which the first row of the piece starts. A row that is larger than
// a piece is an error.
func (p *FileParser) Pieces(data []byte, firstLine uint64, maxBytes int, emit func(line uint64)) (rejects analyses.Rejects, err error) {
	if err := p.reset(data, firstLine); err != nil {
		return rejects, err
	}
	rows, line := 0, firstLine
	for p.scan.Next() {
		p.done.Row()
		taken, err := p.addRow(rows, &rejects)
		if err != nil {
			return rejects, err
		}
		if !taken {
			continue
		}
		if rows > 0 && p.builder.Size() > maxBytes {
			p.builder.Truncate(rows)
			emit(line)
			p.builder.Reset()
			rows = 0
			taken, err := p.addRow(0, nil)
			if err != nil {
				return rejects, err
			}
			if !taken {
				return rejects, fmt.Errorf("line %d: the row is taken and then rejected", p.scan.Line())
			}
		}
		if rows == 0 {
			line = p.scan.Line()
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

// addRow appends the scanner's row to the builder, unless it is skipped or rejected. It counts a rejected row in rejects; if
// rejects is nil, the row was already counted. An error fails the session.
func (p *FileParser) addRow(rows int, rejects *analyses.Rejects) (taken bool, err error) {
	fields, err := p.fields()
	if err == nil {
		err = p.row(fields)
	}
	if err == nil {
		return true, nil
	}
	p.builder.Truncate(rows)
	switch {
	case errors.Is(err, analyses.ErrSkip):
		return false, nil
	case len(p.parties) > 0:
		if taken, err = p.share(rows); err != nil {
			return false, p.failed(err)
		}
		if rejects != nil {
			p.count(rejects)
		}
		return taken, nil
	case analyses.IsFailing(err):
		return false, p.failed(err)
	}
	if rejects != nil {
		reject(rejects, p.file.Name, p.scan.Line(), err)
	}
	return false, nil
}

// fits returns an error if the builder's only row is too large. Size is only an upper bound, so a row that seems too large is
// encoded and measured.
func (p *FileParser) fits(line uint64, maxBytes int) error {
	if p.builder.Size() <= maxBytes {
		return nil
	}
	if size := len(p.builder.Append(nil)); size > maxBytes {
		return fmt.Errorf("%w: that on line %d takes %d bytes in a message, and limits.frame leaves %d for it: shorten it, or raise "+
			"limits.frame in the topology and start the session again",
			ErrRowTooLarge, line, size, maxBytes)
	}
	return nil
}
