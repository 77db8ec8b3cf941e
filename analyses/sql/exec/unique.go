package exec

import "posta.dev/posta/rows/fold"

// unique finds out whether the keys of a leaf hardly repeat among the rows that travel together. Then their groups are not looked up: rows
// are groups of their own until they meet in an aggregator, which merges them anyway.
type unique struct {
	off    bool // the leaf's groups are always looked up
	loose  bool // those of the rows that travel next are not
	rows   int  // that were looked up since the last settle
	groups int  // that were made of them
	first  int  // of the table, when its rows were looked up last
	left   int  // how many more times all rows that travel together are not looked up
	last   int  // what left was set to last
}

const (
	// uniqueAfter is how many rows are looked up before the rest may not be. Among the many more that travel together, the share of keys that
	// repeat is larger by as much: hence uniqueShare.
	uniqueAfter = 2 * Slice
	// uniqueShare is how many rows there are for each whose key an earlier one has, at least. A look-up takes a few hundredths of the time
	// that a group takes on its way.
	uniqueShare = 256
	// mostUnique bounds how many times no rows are looked up before keys are tried again.
	mostUnique = 32
)

// before is called before rows become groups of a table.
func (u *unique) before(t *fold.Table) {
	if u.loose = !u.off && (u.loose || u.left > 0 || u.rows >= uniqueAfter && uniqueShare*(u.rows-u.groups) <= u.rows); u.loose {
		t.Loosen()
	}
	u.first = t.Len()
}

// after is called when rows have become groups.
func (u *unique) after(t *fold.Table, rows int) {
	if !t.Loose() {
		u.rows, u.groups = u.rows+rows, u.groups+t.Len()-u.first
	}
}

// settle is called when the table leaves.
func (u *unique) settle() {
	switch {
	case u.left > 0:
		u.left--
	case u.loose:
		u.last = min(max(1, 2*u.last), mostUnique)
		u.left = u.last
	default:
		u.last = 0
	}
	u.loose, u.rows, u.groups = false, 0, 0
}
