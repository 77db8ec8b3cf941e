package exec

import (
	"encoding/hex"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/analyses/sql/values"
)

// emitRows emits the answer. BIGINT, DOUBLE and BOOLEAN stay as they are, NULL becomes nil, and all other types become text.
func emitRows(fields []plan.Field, rows *operators.Batch, emit func(row ...any)) error {
	for _, i := range rows.Sel {
		row := make([]any, len(fields))
		for c, f := range fields {
			v := rows.Columns[c]
			if !v.IsNull(i) {
				row[c] = Cell(v, i, f.Type)
			}
		}
		emit(row...)
	}
	return nil
}

// Cell returns a value that is not NULL in the form of an answer: string, int64, float64 or bool.
func Cell(v *eval.Vector, row int32, t types.Type) any {
	switch v.Kind {
	case types.BigInt, types.Double, types.Bool, types.Text:
		return v.Value(int(row))
	}
	return string(eval.AppendText(nil, v, row, t))
}

// emitPass emits the answer of a pass, one text per row. The text consists of digits, because texts of an answer must be
// UTF-8.
func emitPass(rows *operators.Batch, emit func(row ...any)) {
	var b []byte
	for _, i := range rows.Sel {
		b = values.Append(b[:0], rows.Columns[0], i, false)
		emit(hex.EncodeToString(b))
	}
}
