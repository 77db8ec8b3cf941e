package bikes

import "posta.dev/posta/analyses"

// rowPosition is the place of a row of a reference stream, by which "the last row wins" is decided. So the order does not
// matter in which batches arrive, or arrive again after a crash.
type rowPosition struct {
	file string
	line uint64 // line of the batch
	row  int    // index in the batch
}

func positionOf(pos analyses.Position, row int) rowPosition {
	return rowPosition{pos.File.Name, pos.Line, row}
}

// before reports whether p comes before o, or is the same row.
func (p rowPosition) before(o rowPosition) bool {
	switch {
	case p.file != o.file:
		return p.file < o.file
	case p.line != o.line:
		return p.line < o.line
	}
	return p.row <= o.row
}
