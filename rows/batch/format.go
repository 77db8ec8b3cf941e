package batch

// The wire form. Every line is a msgpack value; blobs are msgpack bin whose contents are little-endian.
//
//	array 3
//	├─ 1                        version of this form
//	├─ rows                     0 … MaxRows
//	└─ array of columns
//	   ├─ int    array 5: name, 1, min, w, blob         rows × w bytes; value = min + unsigned
//	   ├─ float  array 3: name, 2, blob                 rows × 8 bytes, IEEE 754
//	   ├─ text   array 4: name, 3, offsets, bytes       (rows+1) × 4 bytes; row i = bytes[offset i : offset i+1]
//	   └─ dict   array 6: name, 4, offsets, bytes, w, codes
//	                                                    (entries+1) × 4 bytes; rows × w bytes
//
// w is a width of 0, 1, 2, 4 or 8 bytes (codes: at most 4), the narrowest that holds the builder's rows. With 0 there are no
// bytes, and every value is min (every code 0). Offsets start at 0, never decrease, and end at the length of bytes.
//
// Width and min are per batch because neighbouring rows are alike: dates of a chunk of a file lie within days of each other
// even if the file spans years. Variable-length integers would be smaller still, but must be read one after the other. A
// fixed width can be read at any row, and be widened in a loop without branches.
const version = 1

const (
	intParts   = 5
	floatParts = 3
	textParts  = 4
	dictParts  = 6
)
