package bikes

import "posta.dev/posta/analyses"

// rowPosition is where a row of a reference stream is: "the last row wins" is decided by it, so that the order in which batches
// arrive, and arrive again after a crash, does not matter.
type rowPosition struct {
	file string
	line uint64 // of the batch
	row  int    // in the batch
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
