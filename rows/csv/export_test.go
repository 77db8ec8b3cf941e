package csv

import "fmt"

// MappingOf returns a mapping for wanted columns with the given indexes, -1 for an absent one, in a file with the given
// number of columns, or as many as the indexes demand.
func MappingOf(columns int, sources ...int) Mapping {
	m := Mapping{names: make([]string, len(sources)), sources: sources, columns: columns, last: -1}
	for i, s := range sources {
		m.names[i] = fmt.Sprintf("number %d", s+1)
		m.last = max(m.last, s)
	}
	m.columns = max(m.columns, m.last+1, 1)
	return m
}

// LastRecordEnd returns the end of the last complete record in data, 0 if there is none. data starts at a record's start.
func LastRecordEnd(data []byte, comma byte) int {
	end, _, _ := lastEnd(data, len(data), comma)
	return end
}
