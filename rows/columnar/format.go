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
//	   int, micros, days
//	          nulls, least (8 bytes), width (one byte: 0, 1, 2, 4, 8), rows × width bytes: value = least + unsigned
//	   float  nulls, rows × 8 bytes, IEEE 754
//
//	nulls     0 and nothing, if there are none; else 1 and a bit for each row, the lowest first, that is set where the row is NULL
//	lengths   width (one byte: 1, 2, 4) and so many bytes for each
const version = 1

// Kind is the kind of a column's values.
type Kind byte

// The kinds. Micros and days are counted from 1970; only the years 0000 to 9999 are allowed.
const (
	null   Kind = 0
	text   Kind = 1
	dict   Kind = 2
	Int    Kind = 3
	Float  Kind = 4
	Micros Kind = 5
	Days   Kind = 6
)

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
