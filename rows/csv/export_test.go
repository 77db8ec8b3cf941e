package csv

import "fmt"

// MappingOf returns the mapping for wanted columns at the given places, -1 for one that is absent, in a file of so many
// columns. Errors of rows call them by number.
func MappingOf(columns int, sources ...int) Mapping {
	m := Mapping{names: make([]string, len(sources)), sources: sources, columns: columns, last: -1}
	for i, s := range sources {
		m.names[i] = fmt.Sprintf("number %d", s+1)
		m.last = max(m.last, s)
	}
	return m
}

// LastRecordEnd returns where the last complete record in data ends, 0 if none does. data starts at a record's start.
func LastRecordEnd(data []byte, comma byte) int {
	end, _, _ := lastEnd(data, len(data), comma)
	return end
}
