package columnar

import "errors"

// The wire form. Numbers are little-endian; uvarint is that of encoding/binary.
//
//	1                          version of this form, one byte
//	rows                       uvarint, 1 … MaxRows
//	columns                    uvarint, as many as the file's header has
//	for each column
//	├─ kind                    one byte
//	├─ size                    uvarint: bytes of the body
//	└─ body
//	   null   nothing: all rows are NULL
//	   text   nulls, lengths (one for each row), the texts end to end
//	   dict   entries (uvarint), lengths (one for each entry), the entries end to end, width (one byte: 0, 1, 2, 4), rows × width bytes:
//	          0 is NULL, k is entry k-1
//	   int, micros, days, nanos, bool, decimal
//	          nulls, least (8 bytes), width (one byte: 0, 1, 2, 4, 8), rows × width bytes: value = least + unsigned
//	   float  nulls, rows × 8 bytes, IEEE 754
//
//	nulls     0 and nothing, if there are none; else 1 and a bit for each row, the lowest first, that is set where the row is NULL
//	lengths   width (one byte: 1, 2, 4) and so many bytes for each
const version = 2

// Kind is the kind of a column's values.
type Kind byte

// The kinds. Micros, days and nanos are counted from 1970; only the years 0000 to 9999 are allowed. A bool is 0 or 1.
const (
	null   Kind = 0
	text   Kind = 1
	dict   Kind = 2
	Int    Kind = 3
	Float  Kind = 4
	Micros Kind = 5
	Days   Kind = 6
	Nanos  Kind = 7
	Bool   Kind = 8

	decimal Kind = 16 // of scale 0, which no column has: such a decimal is an Int
)

// MaxScale is the largest scale of a decimal.
const MaxScale = 18

// Decimal returns the kind of decimals with scale digits behind the point, 1 … MaxScale. The value 123 of Decimal(2) is 1.23.
func Decimal(scale int) Kind { return decimal + Kind(scale) }

// integer reports whether values of a kind travel as integers.
func (k Kind) integer() bool {
	switch k {
	case Int, Micros, Days, Nanos, Bool:
		return true
	}
	return k.decimal()
}

// decimal reports whether values of a kind are decimals.
func (k Kind) decimal() bool { return k >= decimal && k <= decimal+MaxScale }

// scale returns how many digits numbers of a kind have behind the point; ok is false for kinds of other values.
func (k Kind) scale() (digits int, ok bool) {
	if k == Int {
		return 0, true
	}
	return int(k) - int(decimal), k.decimal()
}

const (
	// MaxRows bounds the rows of a chunk.
	MaxRows = 1 << 16

	// MaxCells bounds the product of rows and columns of a chunk. NULLs and equal numbers take no bytes in the chunk, but do so
	// in the parser.
	MaxCells = 1 << 23

	// MaxTexts bounds the bytes of the texts of all dictionaries of a chunk, each entry counted as often as rows refer to it.
	MaxTexts = 64 << 20

	firstDay, lastDay = -719528, 2932896 // first day of the year 0000, last day of 9999
	microsPerDay      = 24 * 60 * 60 * 1_000_000
)

// ErrMalformed is wrapped by the errors of [Scanner.Reset]: the chunk is damaged, or of another version.
var ErrMalformed = errors.New("malformed columnar chunk")
