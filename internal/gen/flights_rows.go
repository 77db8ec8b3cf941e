package gen

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
)

// fareWriter appends rows of itineraries.csv.
type fareWriter struct {
	ways []way
	cal  *calendar
	seed uint64
	r    *rand.Rand
	last []byte // a row that is repeated
}

func newFareWriter(ports []port, seed uint64, r *rand.Rand) *fareWriter {
	return &fareWriter{ways: makeWays(ports, r), cal: newCalendar(2022, 2022), seed: seed, r: r}
}

const fareHead = "legId,searchDate,flightDate,startingAirport,destinationAirport,fareBasisCode,travelDuration,elapsedDays,isBasicEconomy," +
	"isRefundable,isNonStop,baseFare,totalFare,seatsRemaining,totalTravelDistance,segmentsDepartureTimeEpochSeconds," +
	"segmentsDepartureTimeRaw," +
	"segmentsArrivalTimeEpochSeconds,segmentsArrivalTimeRaw,segmentsArrivalAirportCode,segmentsDepartureAirportCode,segmentsAirlineName," +
	"segmentsAirlineCode,segmentsEquipmentDescription,segmentsDurationInSeconds,segmentsDistance,segmentsCabinCode\n"

func (w *fareWriter) fill(flush flusher, rows int) []byte {
	b := append([]byte(nil), fareHead...)
	legs := uint64(0)
	for n := range rows {
		x := w.r.Uint64()
		leg := legs
		if x&3 == 0 && legs > 0 { // the leg was found by an earlier search
			leg -= 1 + x>>2%min(legs, 5000)
		} else {
			legs++
		}
		b = w.row(flush(b), n, leg, x>>16)
	}
	return bytes.TrimSuffix(b, []byte("\n"))
}

// itinerary is a row before it is written.
type itinerary struct {
	leg            uint64
	way            *way
	minutes, cents int
	search, flight int // as days
}

func (w *fareWriter) row(b []byte, n int, leg, x uint64) []byte {
	it := w.draw(n, leg, x)
	switch {
	case n%500 == 499:
		return appendBadFare(b, appendFare(nil, w.cal, &it), n/500)
	case n%607 == 13:
		return appendQuoted(b, appendFare(nil, w.cal, &it))
	case n%350 == 10:
		w.last = appendFare(w.last[:0], w.cal, &it)
	case n%350 == 12:
		return append(b, w.last...)
	}
	return appendFare(b, w.cal, &it)
}

// draw makes row n, which is of the given leg. The moduli differ, so that oddities coincide.
func (w *fareWriter) draw(n int, leg, x uint64) itinerary {
	id := mixed(w.seed ^ leg*0x9e3779b97f4a7c15)
	it := itinerary{leg: id, way: &w.ways[id%wayCount], search: int(x>>12&63) + 90, flight: int(x>>18&63) + 150}
	it.minutes = it.way.minutes + 5*int(id>>32%60)
	it.cents = it.way.cents + 310*int(x&127) + 40*int(x>>7&7)
	switch {
	case n%301 == 7: // more than the leg's least duration
		it.minutes += int(x >> 24 & 15)
	case n%503 == 9:
		it.minutes = 24 * 60 * int(1+x>>24&1)
	case n%509 == 2:
		it.minutes = 20 + int(x>>24&31)
	case n%401 == 3:
		it.cents = 0
	case n%409 == 5:
		it.cents = -it.cents
	case it.way.stops >= 3 && x>>24&3 == 0: // another route
		it.way = &w.ways[(id+1000)%wayCount]
	}
	return it
}

// mixed returns a hash of one word (the finalizer of splitmix64).
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func appendFare(b []byte, cal *calendar, it *itinerary) []byte {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:], it.leg)
	binary.BigEndian.PutUint64(raw[8:], mixed(it.leg))
	b = append(hex.AppendEncode(b, raw[:]), ',')
	b = append(append(b, cal.day(it.search)...), ',')
	b = append(append(b, cal.day(it.flight)...), ',')
	b = append(append(b, it.way.start...), ',')
	b = append(append(b, it.way.destination...), ",QAA3AKEN,"...)
	b = appendMinutes(b, it.minutes)
	if it.way.stops == 0 {
		b = append(b, ",0,False,False,True,"...)
	} else {
		b = append(b, ",0,False,False,False,"...)
	}
	b = append(appendCents(b, it.cents*9/10), ',')
	b = append(appendCents(b, it.cents), ",7,"...)
	b = append(append(b, it.way.miles...), ',')
	b = append(append(b, it.way.tail[beforeArrivals]...), ',')
	b = append(append(b, it.way.arrivals...), ',')
	return append(append(b, it.way.tail[behindArrivals]...), '\n')
}

func appendMinutes(b []byte, minutes int) []byte {
	b = append(b, 'P')
	if days := minutes / (24 * 60); days > 0 {
		b = append(strconv.AppendInt(b, int64(days), 10), 'D')
	}
	hours, minutes := minutes/60%24, minutes%60
	if hours > 0 || minutes > 0 {
		b = append(b, 'T')
	}
	if hours > 0 {
		b = append(strconv.AppendInt(b, int64(hours), 10), 'H')
	}
	if minutes > 0 {
		b = append(strconv.AppendInt(b, int64(minutes), 10), 'M')
	}
	return b
}

func appendCents(b []byte, cents int) []byte {
	if cents < 0 {
		b, cents = append(b, '-'), -cents
	}
	b = append(strconv.AppendInt(b, int64(cents/100), 10), '.')
	return append(b, '0'+byte(cents/10%10), '0'+byte(cents%10))
}

// Columns of itineraries.csv that have oddities.
const (
	fareLeg         = 0
	fareStart       = 3
	fareDestination = 4
	fareDuration    = 6
	fareTotal       = 12
	fareMiles       = 14
	fareArrivals    = 19
	farePlanes      = 23
)

// appendQuoted appends a row with quotes around every value. The value of the planes contains everything that only quotes
// allow.
func appendQuoted(b, row []byte) []byte {
	for i, v := range bytes.Split(bytes.TrimSuffix(row, []byte("\n")), []byte(",")) {
		b = append(appendComma(b, i), '"')
		b = append(b, v...)
		if i == farePlanes {
			b = append(b, ", \"\"stretched\"\"\nand repainted"...)
		}
		b = append(b, '"')
	}
	return append(b, '\n')
}

var wrongFares = [...]struct {
	column int
	value  string
}{
	{fareLeg, ""}, {fareStart, ""}, {fareDestination, ""}, {fareDuration, "2 hours"}, {fareDuration, ""}, {fareDuration, "PT2H29"},
	{fareTotal, "n/a"}, {fareTotal, ""}, {fareTotal, "100.005"}, {fareTotal, "1e2"}, {fareMiles, "far"}, {fareMiles, "NaN"},
	{fareArrivals, ""},
	{fareArrivals, "AAA||"}, {fareArrivals, "AAA||||BBB"},
}

// appendBadFare appends a row that is rejected, with a different fault each time.
func appendBadFare(b, row []byte, n int) []byte {
	switch n % (len(wrongFares) + 2) {
	case 0: // the row ends early
		return append(append(b, row[:70]...), '\n')
	case 1: // text after a quote, in the first field
		return append(append(b, `"broken" row,`...), row...)
	}
	wrong := wrongFares[n%(len(wrongFares)+2)-2]
	fields := bytes.Split(row, []byte(","))
	fields[wrong.column] = []byte(wrong.value)
	return append(b, joined(fields...)...)
}
