package flights

import (
	"posta/batch"
	"posta/fold"
)

// found is what Facts found between two flushes, row by row: the tables fold it. Folding fares here first was turned down:
// a frame holds a thousand rows, and there are more journeys and amounts than that.
type found struct {
	fares     []fare
	stopovers []stopover
	detours   []detour
	texts     []byte // of spans
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

// span is a text in found.texts.
type span struct{ from, to int }

func (f *found) copy(v []byte) span {
	from := len(f.texts)
	f.texts = append(f.texts, v...)
	return span{from, len(f.texts)}
}

func (f *found) route(b *batch.Batch, row int) span {
	from := len(f.texts)
	f.texts = appendRoute(f.texts, b.Dicts(rowStart).At(row), b.Dicts(rowArrivals).At(row))
	return span{from, len(f.texts)}
}

func (f *found) text(s span) []byte { return f.texts[s.from:s.to] }

// flush adds everything to the tables and forgets it.
func (f *found) flush(tables []*fold.Table, journeys []string) {
	t := tables[fares]
	for i := range f.fares {
		x := &f.fares[i]
		t.AddSum(t.Row(t.Key().String(journeys[x.journey]).Int(x.cents)), 0, 1)
	}
	f.flushStopovers(tables[stopovers], tables[fastest], journeys)
	t = tables[detours]
	for i := range f.detours {
		x := &f.detours[i]
		t.AddSum(t.Row(t.Key().Text(f.text(x.leg)).Text(f.text(x.route)).Int(milesKey(x.total)).Int(milesKey(x.direct))), 0, 1)
	}
	f.fares, f.stopovers, f.detours, f.texts = f.fares[:0], f.stopovers[:0], f.detours[:0], f.texts[:0]
}

func (f *found) flushStopovers(all, fast *fold.Table, journeys []string) {
	var best []byte
	for i := range f.stopovers {
		x := &f.stopovers[i]
		leg, route := f.text(x.leg), f.text(x.route)
		all.AddSum(all.Row(all.Key().Text(leg).Text(route).Int(x.cents).Int(x.stopovers)), 0, 1)
		best = appendBest(best[:0], x.minutes, route, x.stopovers)
		fast.PutMinText(fast.Row(fast.Key().String(journeys[x.journey]).Text(leg)), 0, best)
	}
}

// appendBest makes the text whose minimum is the least duration of a leg, of equal ones that with the smallest route. The
// stopovers come last: a route tells them, unless an airport is called something with a bar.
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
