package fold

import "posta.dev/posta/rows/progress"

// Buckets is the number of parts into which [Table.Bucketed] divides the keys. It is part of the format of files that hold rows by bucket.
// A table of 10^9 rows that was written in pieces has a million rows in each bucket, so one bucket of all pieces fits in memory.
const Buckets = 1 << bucketBits

const (
	bucketBits = 10
	// bucketShift: the bits below have chosen the partition, and are equal in all keys that one aggregator holds. The high half of the hash
	// chooses the slots of an index. If a bucket were made from those bits, the searches for all rows of a bucket would begin in the same part
	// of an index.
	bucketShift = 22
)

// Bucket returns the bucket of a key, given its hash.
func Bucket(hash uint64) int { return int(hash>>bucketShift) % Buckets }

// Bucketed returns the rows from number from on by the bucket of the keys that partition them. In each bucket they are ordered by
// number. Rows of two tables that are equal in these keys are in the same bucket. The wire form of a bucket's rows ([Table.AppendRows])
// depends only on the contents of the rows.
func (t *Table) Bucketed(from int) (buckets [Buckets][]int) {
	n := max(0, t.Len()-from)
	of := make([]uint16, n)
	var count [Buckets]int
	var scratch []byte
	for i := range of {
		if i%progress.Every == 0 {
			progress.Mark()
		}
		t.normalize(from + i)
		b := Bucket(t.spreads(from+i, &scratch))
		of[i] = uint16(b)
		count[b]++
	}
	rows := make([]int, n)
	for b, at := 0, 0; b < Buckets; at, b = at+count[b], b+1 {
		buckets[b] = rows[at : at : at+count[b]]
	}
	for i, b := range of {
		buckets[b] = append(buckets[b], from+i)
	}
	return buckets
}
