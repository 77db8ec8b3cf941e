package plan

// Set is a set of columns. The zero Set is empty.
type Set []uint64

// SetOf returns the set of some columns.
func SetOf(fields []Field) Set {
	var s Set
	for _, f := range fields {
		s.Add(f.ID)
	}
	return s
}

// Add adds a column.
func (s *Set) Add(id ColumnID) {
	for int(id>>6) >= len(*s) {
		*s = append(*s, make([]uint64, int(id>>6)+1-len(*s))...)
	}
	(*s)[id>>6] |= 1 << (id & 63)
}

// Has reports whether a column is in the set.
func (s Set) Has(id ColumnID) bool { return int(id>>6) < len(s) && s[id>>6]>>(id&63)&1 == 1 }

// Mark adds the columns that expressions read.
func (s *Set) Mark(exprs ...Expr) {
	Walk(func(e Expr) {
		if c, is := e.(*Column); is {
			s.Add(c.ID)
		}
	}, exprs...)
}

// Layout says where in a row each column is.
type Layout map[ColumnID]int

// LayoutOf returns the layout of rows with these columns, one list behind the other.
func LayoutOf(lists ...[]Field) Layout {
	at, n := Layout{}, 0
	for _, fields := range lists {
		for _, f := range fields {
			at[f.ID] = n
			n++
		}
	}
	return at
}
