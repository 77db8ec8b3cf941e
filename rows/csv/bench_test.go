package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

// trips makes rows like those of the bikes data, about 62 bytes each.
func trips(rows int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b []byte
	start := time.Date(2015, 5, 5, 8, 0, 0, 0, time.UTC)
	for range rows {
		from := start.Add(time.Duration(rng.IntN(200*86400)) * time.Second)
		seconds := 60 + rng.IntN(3000)
		b = from.AppendFormat(b, "2006-01-02 15:04:05,")
		b = strconv.AppendInt(b, int64(6000+rng.IntN(600)), 10)
		b = from.Add(time.Duration(seconds)*time.Second).AppendFormat(b, ",2006-01-02 15:04:05,")
		b = strconv.AppendInt(b, int64(6000+rng.IntN(600)), 10)
		b = fmt.Appendf(b, ",%d.0,%d,2015\n", seconds, rng.IntN(2))
	}
	return b
}

const tripsHeader = "start_date,start_station_code,end_date,end_station_code,duration_sec,is_member,yearid"

// wide makes rows like those of the flights data: 27 columns, more than 300 bytes.
func wide(rows int) []byte {
	rng := rand.New(rand.NewPCG(2, 2))
	var b []byte
	for range rows {
		b = fmt.Appendf(b, "%016x%016x,2022-05-29,2022-06-18,LAX,ATL,Y0N%d,PT%dH19M,0,False,False,True,%d.26,%d.61,%d,%d,1655591400||1656086520,"+
			"2022-06-18T15:30:00.000-07:00||2022-06-18T15:30:00.000-07:00,1655606940||1656086520,2022-06-18T22:49:00.000-04:00,ATL||LAX,LAX||ATL,"+
			"Delta||Delta,DL||DL,"+
			"Airbus A321||Boeing 717,15540||4440,1943||228,coach||coach\n",
			rng.Uint64(), rng.Uint64(), rng.IntN(9), rng.IntN(12), rng.IntN(1000), rng.IntN(2000), rng.IntN(10), rng.IntN(3000))
	}
	return b
}

// quotedTrips is trips with every text in quotes.
func quotedTrips(rows int) []byte {
	b := bytes.ReplaceAll(trips(rows), []byte(","), []byte("\",\""))
	b = bytes.ReplaceAll(b, []byte("\n"), []byte("\"\n\""))
	return append([]byte{'"'}, b[:len(b)-1]...)
}

var wanted = []int{0, 1, 3, 4, 6}

func BenchmarkScan(b *testing.B) {
	for _, c := range []struct {
		name    string
		data    []byte
		mapping csv.Mapping
	}{
		{"trips", trips(4000), csv.MappingOf(7, wanted...)},
		{"trips-quoted", quotedTrips(4000), csv.MappingOf(7, wanted...)},
		{"wide", wide(800), csv.MappingOf(27, 0, 3, 4, 6, 12, 14, 19)},
	} {
		b.Run(c.name, func(b *testing.B) {
			standard := perByte(b, c.data, scanStandard)
			var s csv.Scanner
			b.SetBytes(int64(len(c.data)))
			rows := 0
			var w watch
			for b.Loop() {
				w.start()
				rows = 0
				s.Reset(c.data, ',', c.mapping, 2)
				for s.Next() {
					rows++
				}
				w.stop()
			}
			w.report(b, rows, len(c.data), standard)
		})
	}
}

// BenchmarkParseTrips scans and parses: all work on a row before it is a row of a batch.
func BenchmarkParseTrips(b *testing.B) {
	data := trips(4000)
	h, err := csv.ParseHeader([]byte(tripsHeader), ',')
	if err != nil {
		b.Fatal(err)
	}
	m, err := h.Find([]csv.Column{{Name: "start_date"}, {Name: "start_station_code"}, {Name: "end_station_code"}, {Name: "duration_sec"},
		{Name: "yearid"}})
	if err != nil {
		b.Fatal(err)
	}
	p := newTripParser()
	standard := perByte(b, data, func(data []byte) { p.standard(b, data) })
	b.SetBytes(int64(len(data)))
	var s csv.Scanner
	var frame []byte
	rows := 0
	var w watch
	for b.Loop() {
		w.start()
		p.builder.Reset()
		s.Reset(data, ',', m, 2)
		for s.Next() {
			if s.Err() != nil || !p.row(s.Fields()) {
				b.Fatalf("line %d: %v %q", s.Line(), s.Err(), s.Fields())
			}
		}
		rows = p.builder.Rows()
		frame = p.builder.Append(frame[:0])
		w.stop()
	}
	b.ReportMetric(float64(len(frame))/float64(rows), "frame-B/row")
	w.report(b, rows, len(data), standard)
}

type tripParser struct {
	builder         *batch.Builder
	day, secs, year *batch.IntBuilder
	from, to        *batch.DictBuilder
}

func newTripParser() *tripParser {
	b := batch.NewBuilder([]batch.FieldSpec{{Name: "day", Kind: batch.Int}, {Name: "from", Kind: batch.Dict}, {Name: "to", Kind: batch.Dict},
		{Name: "seconds", Kind: batch.Int}, {Name: "year", Kind: batch.Int}})
	return &tripParser{builder: b, day: b.Int(0), from: b.Dict(1), to: b.Dict(2), secs: b.Int(3), year: b.Int(4)}
}

func (p *tripParser) row(fields [][]byte) bool {
	if len(fields[0]) < 10 {
		return false
	}
	day, ok := csv.ParseDate(fields[0][:10])
	d, ok2 := csv.ParseDecimal(fields[3])
	seconds, ok3 := d.Units(0)
	year, ok4 := csv.ParseInt(fields[4])
	if !ok || !ok2 || !ok3 || !ok4 {
		return false
	}
	p.day.Append(day)
	p.from.Append(fields[1])
	p.to.Append(fields[2])
	p.secs.Append(seconds)
	p.year.Append(year)
	return true
}

// standard is the code that one would write with the standard library.
func (p *tripParser) standard(b *testing.B, data []byte) {
	r := stdcsv.NewReader(bytes.NewReader(data))
	r.ReuseRecord = true
	for {
		f, err := r.Read()
		if err == io.EOF {
			return
		}
		day, err1 := time.Parse("2006-01-02", f[0][:10])
		d, err2 := strconv.ParseFloat(f[4], 64)
		year, err3 := strconv.ParseInt(f[6], 10, 64)
		if err != nil || err1 != nil || err2 != nil || err3 != nil {
			b.Fatal(err, err1, err2, err3)
		}
		sink = day.Unix() + int64(d) + year
	}
}

var sink int64

func scanStandard(data []byte) {
	r := stdcsv.NewReader(bytes.NewReader(data))
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); err != nil {
			return
		}
	}
}

// watch keeps the best time of all iterations, which a busy machine disturbs least. The time of encoding/csv is measured in
// the same way, so the ratio of both can be compared between runs.
type watch struct {
	begun time.Time
	best  time.Duration
}

func (w *watch) start() { w.begun = time.Now() }

func (w *watch) stop() {
	if took := time.Since(w.begun); w.best == 0 || took < w.best {
		w.best = took
	}
}

func (w *watch) report(b *testing.B, rows, size int, standard float64) {
	best := float64(w.best.Nanoseconds())
	b.ReportMetric(best/float64(rows), "best-ns/row")
	b.ReportMetric(float64(size)/best*1e3, "best-MB/s")
	b.ReportMetric(standard*float64(size)/best, "x-encoding/csv")
}

// perByte returns how many nanoseconds f takes per byte of data, the best of some runs.
func perByte(b *testing.B, data []byte, f func([]byte)) float64 {
	b.Helper()
	var w watch
	for range 50 {
		w.start()
		f(data)
		w.stop()
	}
	return float64(w.best.Nanoseconds()) / float64(len(data))
}

// texts makes rows like those of the memes' comments: a text with commas, line feeds and quotes, and a quote in a wrong place in one row of
// a thousand.
func texts(rows int) (b []byte) {
	for i := range rows {
		b = fmt.Appendf(b, "%d,2018-03-04,\"a comment, of some \"\"words\"\",\nand of %d more, as people write them below a picture that they "+
			"have seen\",%d\n", i, i%13, i%977)
		if i%1000 == 500 {
			b = append(b, "7,\"wrong\" here,1,2\n"...)
		}
	}
	return b
}

func BenchmarkCutter(b *testing.B) {
	broken := bytes.Repeat(append(trips(1000), "\"broken\" row,1,2,3,4\n"...), 40)
	for name, rows := range map[string][]byte{"plain": trips(40_000), "quoted": quotedTrips(40_000), "broken": broken,
		"texts": texts(20_000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(rows)))
			var buf []byte
			var w watch
			for b.Loop() {
				w.start()
				c := csv.NewCutter(bytes.NewReader(rows), ',', 256<<10, 1<<20)
				for {
					chunk, _, err := c.Next(buf)
					if err != nil {
						break
					}
					buf = chunk
				}
				w.stop()
			}
			b.ReportMetric(float64(len(rows))/float64(w.best.Nanoseconds())*1e3, "best-MB/s")
		})
	}
}

func BenchmarkLastRecordEnd(b *testing.B) {
	data := trips(40_000)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		sink = int64(csv.LastRecordEnd(data, ','))
	}
}

func BenchmarkValues(b *testing.B) {
	date, decimal, number := []byte("2015-05-05"), []byte("660.0"), []byte("2015")
	b.Run("date", func(b *testing.B) {
		for b.Loop() {
			sink, _ = csv.ParseDate(date)
		}
	})
	b.Run("decimal", func(b *testing.B) {
		for b.Loop() {
			d, _ := csv.ParseDecimal(decimal)
			sink = d.Value
		}
	})
	b.Run("int", func(b *testing.B) {
		for b.Loop() {
			sink, _ = csv.ParseInt(number)
		}
	})
}
