package flights

import (
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/fold"
)

// pending holds the rows that Facts found between two flushes. They are folded only in the tables.
type pending struct {
	fares     []fare
	stopovers []stopover
	detours   []detour
	texts     []byte    // the texts of all spans
	rows      []fareRow // by journey, the rows of one flush
}

type fare struct {
	journey int32
	cents   int64
}

type stopover struct {
	leg, route                span
	journey                   int32
	cents, minutes, stopovers int64
}

type detour struct {
	leg, route    span
	total, direct float64
}

// span is a text in pending.texts.
type span struct{ from, to int }

func (f *pending) copy(v []byte) span {
	from := len(f.texts)
	f.texts = append(f.texts, v...)
	return span{from, len(f.texts)}
}

func (f *pending) route(b *batch.Batch, row int) span {
	from := len(f.texts)
	f.texts = appendRoute(f.texts, b.Dicts(rowStart).At(row), b.Dicts(rowArrivals).At(row))
	return span{from, len(f.texts)}
}

func (f *pending) text(s span) []byte { return f.texts[s.from:s.to] }

// flush adds everything to the tables and forgets it.
func (f *pending) flush(tables []*fold.Table, journeys []string) {
	f.flushFares(tables[fares], journeys)
	f.flushStopovers(tables[stopovers], tables[fastest], journeys)
	t := tables[detours]
	for i := range f.detours {
		x := &f.detours[i]
		t.Row(t.Key().Text(f.text(x.leg)).Text(f.text(x.route)).Int(milesKey(x.total)).Int(milesKey(x.direct)))
	}
	f.fares, f.stopovers, f.detours, f.texts = f.fares[:0], f.stopovers[:0], f.detours[:0], f.texts[:0]
}

// fareRange is the width, in cents, of the range of fares in one row of the table of fares. So a cell stays small for any
// fares, and most journeys need only one or two rows.
const fareRange = 1 << 16

// fareRow is the row to which a journey's last fare was added.
type fareRow struct {
	number int64 // number of the range, from 1 on; 0 if there was no fare
	row    int
}

func (f *pending) flushFares(t *fold.Table, journeys []string) {
	f.rows = append(f.rows[:0], make([]fareRow, len(journeys))...)
	for i := range f.fares {
		x := &f.fares[i]
		last := &f.rows[x.journey]
		if r := 1 + x.cents/fareRange; r != last.number {
			*last = fareRow{r, t.Row(t.Key().String(journeys[x.journey]).Int(r))}
		}
		t.AddCount(last.row, 0, x.cents, 1)
	}
}

func (f *pending) flushStopovers(all, fast *fold.Table, journeys []string) {
	var best []byte
	for i := range f.stopovers {
		x := &f.stopovers[i]
		leg, route := f.text(x.leg), f.text(x.route)
		all.Row(all.Key().Text(leg).Text(route).Int(x.cents).Int(x.stopovers))
		best = appendBest(best[:0], x.minutes, route, x.stopovers)
		fast.PutMinText(fast.Row(fast.Key().String(journeys[x.journey]).Text(leg)), 0, best)
	}
}

// appendBest makes a text whose minimum belongs to a leg's fastest row; of equally fast rows, to the one with the smallest
// route. The stopovers come last and decide nothing: the route determines them, unless an airport's code contains a bar.
func appendBest(b []byte, minutes int64, route []byte, stopovers int64) []byte {
	return fold.AppendInt(fold.AppendText(fold.AppendInt(b, minutes), route), stopovers)
}

func cutBest(p []byte) (minutes int64, route []byte, stopovers int64, err error) {
	if minutes, p, err = fold.CutInt(p); err != nil {
		return
	}
	if route, p, err = fold.CutText(p); err != nil {
		return
	}
	stopovers, _, err = fold.CutInt(p)
	return
}
