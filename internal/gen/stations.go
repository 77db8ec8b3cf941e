package gen

import (
	"math/rand/v2"
	"strconv"
)

// Columns of stations.csv, whose order differs in some towns.
const (
	code = iota
	name
	latitude
	longitude
	yearid
	opened // unused
)

func stationColumns(t *town) []int {
	if t.shape.reordered {
		return []int{yearid, longitude, latitude, opened, name, code}
	}
	return []int{code, name, latitude, longitude, yearid}
}

var stationHeads = [...]string{"code", "name", "latitude", "longitude", "yearid", "opened"}

func appendStations(flush flusher, t *town, stops []stop, r *rand.Rand) []byte {
	var b []byte
	columns := stationColumns(t)
	for i, c := range columns {
		b = append(appendComma(b, i), stationHeads[c]...)
	}
	b = append(b, '\n')
	for year := firstYear; year <= lastYear; year++ {
		for i := range stops {
			s := &stops[i]
			if s.opened > year {
				continue
			}
			if i%37 == 11 { // an older version of the next row
				old := *s
				old.name, old.lat = append([]byte("Formerly "), "somewhere"...), s.lat+1
				b = appendStation(b, columns, &old, year, r)
			}
			if i%89 == 13 {
				b = appendBadStation(b, columns, s, year, r)
			}
			b = flush(appendStation(b, columns, s, year, r))
		}
		b = append(b, '\n') // an empty line
	}
	return b
}

func appendStation(b []byte, columns []int, s *stop, year int, r *rand.Rand) []byte {
	half := s.located && r.IntN(200) == 0 // one coordinate is missing
	for i, c := range columns {
		b = appendComma(b, i)
		switch c {
		case code:
			b = append(b, s.code...)
		case name:
			b = append(b, s.name...)
		case latitude:
			if s.located {
				b = strconv.AppendFloat(b, s.lat, 'f', -1, 64)
			}
		case longitude:
			if s.located && !half {
				b = strconv.AppendFloat(b, s.lon, 'f', -1, 64)
			}
		case yearid:
			b = strconv.AppendInt(b, int64(year), 10)
		case opened:
			b = strconv.AppendInt(b, int64(s.opened), 10)
		}
	}
	return append(b, '\n')
}

// appendBadStation appends a row with a missing or wrong value.
func appendBadStation(b []byte, columns []int, s *stop, year int, r *rand.Rand) []byte {
	bad := []int{code, name, latitude, yearid}[r.IntN(4)]
	for i, c := range columns {
		b = appendComma(b, i)
		switch {
		case c == bad && c == latitude:
			b = append(b, "north"...)
		case c == bad:
		case c == code:
			b = append(b, s.code...)
		case c == name:
			b = append(b, "Never There"...)
		case c == yearid:
			b = strconv.AppendInt(b, int64(year), 10)
		}
	}
	return append(b, '\n')
}
