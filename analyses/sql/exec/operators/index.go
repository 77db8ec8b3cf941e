package operators

import (
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/values"
)

// index numbers distinct keys in the order in which they come.
type index struct {
	counted
	ids map[string]int32
	key []byte
}

func (x *Executor) newIndex() *index { return &index{counted: counted{x: x}, ids: map[string]int32{}} }

// indexEntry is roughly how many bytes a map's entry takes in addition to its key.
const indexEntry = 48

// id returns the number of the key in ix.key, and whether it is new.
func (ix *index) id() (id int32, fresh bool, err error) {
	id, ok := ix.ids[string(ix.key)]
	if ok {
		return id, false, nil
	}
	id = int32(len(ix.ids))
	ix.ids[string(ix.key)] = id
	return id, true, ix.hold(int64(len(ix.key)) + indexEntry)
}

// row builds the key of a row from some columns.
func (ix *index) row(columns []*eval.Vector, row int32) {
	ix.key = ix.key[:0]
	for _, c := range columns {
		if c == nil {
			ix.key = append(ix.key, values.Null)
			continue
		}
		ix.key = values.Append(ix.key, c, row, true)
	}
}
