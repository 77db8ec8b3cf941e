package exec

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/values"
	"posta.dev/posta/rows/fold"
)

// position locates the rows of a batch: see Order in the package's documentation.
type position struct {
	of     []byte // file and line of the batch
	at     int64  // number of the first row in the slice
	joined joined
	groups []*eval.Vector // keys of groups, which locate each row; nil if rows are located by files
}

func (p *position) begin(pos analyses.Position) {
	p.of = fold.AppendInt(fold.AppendText(p.of[:0], pos.File.Name), int64(pos.Line))
}

func (p *position) append(b []byte, row int32) []byte {
	if p.groups != nil {
		for _, v := range p.groups {
			b = values.Append(b, v, row, true)
		}
		return b
	}
	for _, numbers := range p.joined.before {
		b = fold.AppendInt(b, int64(numbers[row]))
	}
	at := row
	if p.joined.rows != nil {
		at = p.joined.rows[row]
	}
	b = fold.AppendInt(append(b, p.of...), p.at+int64(at))
	for _, numbers := range p.joined.after {
		b = fold.AppendInt(b, int64(numbers[row]))
	}
	return b
}
