package shell

import (
	"time"

	"posta.dev/posta/nodes/role"
)

// pieces are pieces of files that were read and wait for room. Reference streams and facts have separate queues, so that waiting facts
// never delay reference data (R11).
type pieces [2][]*role.Piece

func class(reference bool) int {
	if reference {
		return 1
	}
	return 0
}

// Reads returns the files that are to be read now (S8). The caller hands their pieces to Pieces, those of one file in order.
func (s *Shell) Reads() []role.Read {
	if s.draining {
		return nil
	}
	return s.core.Reads()
}

// WantsPieces reports whether pieces of reference streams, or of facts, would be taken now. Pieces that come nevertheless wait.
func (s *Shell) WantsPieces(reference bool) bool {
	return !s.draining && len(s.pieces[class(reference)]) == 0 && s.core.MayTakePieces(reference)
}

// PreparePieces returns work on pieces that may be done in parallel before they are handed to Pieces; see core.Prepare.
func (s *Shell) PreparePieces(pieces []*role.Piece) []func() {
	if s.draining {
		return nil
	}
	return s.core.PreparePieces(pieces)
}

// Pieces takes pieces of files. Pieces without room wait for a later step (R9).
func (s *Shell) Pieces(now time.Time, pieces []*role.Piece) {
	for _, p := range pieces {
		c := class(p.Reference)
		s.pieces[c] = append(s.pieces[c], p)
	}
	s.takePieces(now)
}

func (s *Shell) takePieces(now time.Time) {
	for c := range s.pieces {
		n := 0
		for n < len(s.pieces[c]) && !s.draining && s.core.TakePiece(now, s.pieces[c][n]) {
			n++
		}
		if n > 0 {
			s.read = append(s.read, s.pieces[c][:n]...)
			s.pieces[c] = append(s.pieces[c][:0], s.pieces[c][n:]...)
		}
	}
}
