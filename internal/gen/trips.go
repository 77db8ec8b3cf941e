package gen

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// tripWriter appends rows of trips.csv.
type tripWriter struct {
	t     *town
	cal   *calendar
	stops []stop
	often *popularity
	r     *rand.Rand
	end   string // of a line
}

func newTripWriter(t *town, cal *calendar, stops []stop, r *rand.Rand) *tripWriter {
	w := &tripWriter{t: t, cal: cal, stops: stops, often: makePopularity(stops), r: r, end: "\n"}
	if t.shape.crlf {
		w.end = "\r\n"
	}
	return w
}

// How 64 trips are distributed over the years.
var yearShare = [yearCount]int{12, 14, 17, 21}

const (
	seasonStart = 80 // days into the year
	seasonDays  = 250
)

func (w *tripWriter) fill(flush flusher, rows int) []byte {
	b := w.header(nil)
	row, share := 0, 0
	for y, s := range yearShare {
		share += s
		from, to := row, rows*share/64
		for ; row < to; row++ {
			// Trips are ordered by time, except for two weeks.
			day := seasonStart + (row-from)*seasonDays/(to-from) + int(w.r.Uint32()%15)
			b = flush(w.row(b, row, y, w.cal.start(firstYear+y)+day))
		}
	}
	if w.t.shape.noLastNewline && len(b) >= len(w.end) {
		b = b[:len(b)-len(w.end)]
	}
	return b
}

func (w *tripWriter) header(b []byte) []byte {
	if w.t.shape.bom {
		b = append(b, "\xef\xbb\xbf"...)
	}
	return append(append(b, strings.Join(w.columns(), ",")...), w.end...)
}

func (w *tripWriter) columns() []string {
	if w.t.shape.reordered {
		return []string{"duration_sec", "yearid", "start_station_code", "is_member", "bike", "start_date", "end_station_code", "end_date"}
	}
	return []string{"start_date", "start_station_code", "end_date", "end_station_code", "duration_sec", "is_member", "yearid"}
}

// trip is a row before it is written.
type trip struct {
	day, second, seconds int
	from, to             []byte
	tail                 string // of the duration
	negative, member     bool
	year                 int
}

func (w *tripWriter) row(b []byte, n, y, day int) []byte {
	tr := w.draw(n, y, day)
	if n%500 == 499 {
		return w.malformed(b, n/500, &tr)
	}
	if w.t.shape.reordered {
		return w.reordered(b, &tr)
	}
	b = appendTime(b, w.cal, tr.day, tr.second)
	b = append(append(b, ','), tr.from...)
	b = appendEnd(append(b, ','), w.cal, &tr)
	b = append(append(b, ','), tr.to...)
	b = appendDuration(append(b, ','), &tr)
	b = append(b, ',', '0'+bit(tr.member), ',')
	b = strconv.AppendInt(b, int64(tr.year), 10)
	return append(b, w.end...)
}

func (w *tripWriter) reordered(b []byte, tr *trip) []byte {
	b = appendDuration(b, tr)
	b = strconv.AppendInt(append(b, ','), int64(tr.year), 10)
	b = append(append(b, ','), tr.from...)
	b = append(b, ',', '0'+bit(tr.member), ',', 'b', '7', ',')
	b = appendTime(b, w.cal, tr.day, tr.second)
	b = append(append(b, ','), tr.to...)
	b = appendEnd(append(b, ','), w.cal, tr)
	return append(b, w.end...)
}

// draw makes row n of a year: a plain trip in nearly all cases.
func (w *tripWriter) draw(n, y, day int) trip {
	x := w.r.Uint64()
	const mask = 1<<popularityBits - 1
	tr := trip{
		day: day, year: firstYear + y, tail: ".0", member: x>>60 != 0,
		from:   w.stops[w.often[y][x&mask]].code,
		to:     w.stops[w.often[y][x>>16&mask]].code,
		second: int(x>>32&0xffff) * 1320 >> 16 * 60, // full minutes before 22:00
	}
	d := w.r.Uint64()
	tr.seconds = 60 * (2 + int(d&15) + int(d>>4&15))
	if w.t.seconds {
		tr.second += int(d >> 8 & 31)
		tr.seconds += int(d >> 16 & 31)
	}
	w.odd(&tr, n, d>>32)
	return tr
}

// odd makes some trips special. The moduli differ, so that oddities coincide.
func (w *tripWriter) odd(tr *trip, n int, x uint64) {
	switch {
	case n%97 == 5:
		tr.tail = [...]string{".5", ".25", ".123", ".9", ""}[x%5]
	case n%397 == 7:
		tr.negative = true
	case n%449 == 9:
		tr.seconds *= 100
	}
	switch {
	case n%211 == 3:
		tr.from = []byte("9999")
	case n%223 == 4:
		tr.to = []byte("x7")
	case n%601 == 5:
		tr.from, tr.to = quoted(tr.from), quoted(tr.to)
	case n%701 == 6:
		tr.day += 365 * 3 // most often after the last day with weather
		tr.day = min(tr.day, w.cal.days()-2)
	}
}

func quoted(p []byte) []byte { return append(append([]byte{'"'}, p...), '"') }

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func appendEnd(b []byte, cal *calendar, tr *trip) []byte {
	second := tr.second + tr.seconds
	return appendTime(b, cal, min(tr.day+second/86400, cal.days()-1), second%86400)
}

func appendDuration(b []byte, tr *trip) []byte {
	if tr.negative {
		b = append(b, '-')
	}
	return append(strconv.AppendInt(b, int64(tr.seconds), 10), tr.tail...)
}

// malformed appends a row that cannot be read, with a different fault each time.
func (w *tripWriter) malformed(b []byte, n int, tr *trip) []byte {
	switch n % 8 {
	case 0: // the row ends early
		b = append(append(appendTime(b, w.cal, tr.day, tr.second), ','), tr.from...)
		return append(b, w.end...)
	case 1: // text after a quote, in the first field
		return append(append(b, `"broken" row,1,2,3,4,5,6,7`...), w.end...)
	}
	fields := map[string]string{
		"start_date": string(appendTime(nil, w.cal, tr.day, tr.second)), "start_station_code": string(tr.from),
		"end_date": "", "end_station_code": string(tr.to), "duration_sec": "60.0", "is_member": "1", "yearid": strconv.Itoa(tr.year),
		"bike": "",
	}
	wrong := [...][2]string{
		{"start_date", "2015-02-29 12:00:00"}, {"start_station_code", ""}, {"end_station_code", ""},
		{"duration_sec", "ten"}, {"duration_sec", ""}, {"yearid", "20l6"},
	}[n%8-2]
	fields[wrong[0]] = wrong[1]
	for i, c := range w.columns() {
		b = append(appendComma(b, i), fields[c]...)
	}
	return append(b, w.end...)
}
