package fold

// Find returns the row with the key, false if the table has none. Unlike [Table.Row] it adds nothing: it is how a reducer joins
// two tables.
func (t *Table) Find(key *KeyBuilder) (row int, found bool) {
	p := key.bytes()
	t.indexed()
	row, _, found = t.index.find(p, Hash(p))
	return row, found
}
