package gen

import "strconv"

var ratingTexts = []string{"4.0", "3.0", "5.0", "3.5", "4.5", "2.0", "2.5", "1.0", "1.5", "0.5"}

// oddRatings are numbers in unusual forms.
var oddRatings = []string{"4", "3.50", "4.25", "+2.5", "1e0", ".5", "3.3333333333333335", "\"4.0\""}

func (w *filmWriter) fillRatings(flush flusher, rows int) []byte {
	b := []byte("userId,movieId,rating,timestamp\r\n")
	for n := range rows {
		if n%500 == 499 {
			b = flush(w.badRating(b, n/500))
			continue
		}
		x := w.r.Uint64()
		b = strconv.AppendInt(b, int64(1+n/90), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(w.rated(x)), 10)
		b = append(b, ',')
		if n%211 == 5 {
			b = append(b, oddRatings[x>>40%uint64(len(oddRatings))]...)
		} else {
			b = append(b, ratingTexts[min(x>>40%10, x>>50%10)]...)
		}
		b = append(b, ",12607"...)
		b = strconv.AppendInt(b, int64(10000+x>>32%90000), 10)
		b = flush(append(b, "\r\n"...))
	}
	return b
}

// rated draws a movie. Some are rated more often, and one in eight is unknown.
func (w *filmWriter) rated(x uint64) int {
	a, b := x&0xffff*uint64(len(w.ids))>>16, x>>16&0xffff*uint64(len(w.ids))>>16
	id := w.ids[min(a, b)]
	if x>>60 < 2 {
		return id + 100000000
	}
	return id
}

func (w *filmWriter) badRating(b []byte, n int) []byte {
	bad := []string{"1,862", "1,,4.0,1", "1,862,,1", "1,862,five,1", "1,862,NaN,1", "1,86.2,4.0,1", "1,99999999999999999999,4.0,1",
		`"1" x,862,4.0,1`, "7", "1,862,4.0.0,1"}
	return append(append(b, bad[n%len(bad)]...), "\r\n"...)
}
