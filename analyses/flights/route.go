package flights

import "bytes"

// separator joins the elements of a list.
const separator = "||"

// countStopovers returns the number of elements of a list of arrival airports, minus one. ok is false if an element is empty.
func countStopovers(list []byte) (n int64, ok bool) {
	from := 0
	for at := 0; at+1 < len(list); at++ {
		if list[at] != '|' || list[at+1] != '|' {
			continue
		}
		if at == from {
			return 0, false
		}
		n++
		at++
		from = at + 1
	}
	return n, from < len(list)
}

// cutAirport returns the first element of a list, and the rest.
func cutAirport(list []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(list, []byte(separator))
	return first, rest
}

func appendRoute(b, start, arrivals []byte) []byte {
	return append(append(append(b, start...), separator...), arrivals...)
}
