package csv

// Kind is the kind of a column's values, in a file that declares it. Values of one kind have an order, on which a [Range] is
// based.
type Kind int

// The kinds. A column of KindUnknown has no range. A column of KindNone has no values in this part of the file: its fields are empty.
const (
	KindUnknown Kind = iota
	KindNone
	KindInteger
	KindDecimal
	KindDate
	KindTime  // a date with a time of day
	KindBytes // text, ordered by its bytes
)

// Range is what a file says about the values of a column in some of its rows: every field that is not empty lies between Least
// and Most. These two need not occur in the rows. Both have the form in which a [Scanner] returns fields.
type Range struct {
	Kind        Kind
	Least, Most []byte
	NoNulls     bool // no field is empty
	Cut         bool // Least and Most may be shortened to other values, so that they say nothing if they are equal
}

// Known is what a file says about a column without being read.
type Known struct {
	Values  int64 // how many are not NULL, if Counted is set
	Counted bool
	Ranges  []Range // of each part of the rows; Least and Most occur in it
}
