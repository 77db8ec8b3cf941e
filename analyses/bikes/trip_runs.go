package bikes

import (
	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/batch"
	"posta.dev/posta/rows/csv"
)

func newRunParser(_ analyses.Args, stream int, file analyses.File, b *batch.Builder) func(run *csv.Run) (read, taken int) {
	if stream != trips || file.Cells != nil {
		return nil
	}
	x := &tripRuns{
		date: b.Int(tripDate), start: b.Dict(tripStart), end: b.Dict(tripEnd),
		durations: b.Int(tripDuration), scales: b.Int(tripScale), year: b.Int(tripYear),
	}
	return x.read
}

// tripRuns reads trips as the function of parseTrips does, many at once and column by column.
type tripRuns struct {
	date, durations, scales, year *batch.IntBuilder
	start, end                    *batch.DictBuilder

	numbers                     csv.Numbers
	times, values, tens, yearOf []int64 // of the run's rows
}

// read implements analyses.Analysis.NewRunParser.
func (x *tripRuns) read(run *csv.Run) (read, taken int) {
	data, n := run.Data(), run.Rows()
	from, to := run.Leading(0, n)
	x.times = x.numbers.DateTimes(x.times[:0], data, from, to, 1)
	n = len(x.times)
	from, to = run.Leading(3, n)
	x.values, x.tens = x.numbers.Parts(x.values[:0], x.tens[:0], data, from, to)
	n = inSeconds(x.values, x.tens)
	from, to = run.Leading(4, n)
	x.yearOf = x.numbers.Ints(x.yearOf[:0], data, from, to)
	n = len(x.yearOf)
	n = filled(run.Leading(1, n))
	from, to = run.Leading(2, n)
	n = filled(from, to)
	x.end.AppendAll(data, from[:n], to[:n])
	from, to = run.Leading(1, n)
	x.start.AppendAll(data, from, to)
	for k, at := range x.times[:n] {
		x.times[k] = daysOf(at)
	}
	x.date.AppendAll(x.times[:n])
	x.durations.AppendAll(x.values[:n])
	x.scales.AppendAll(x.tens[:n])
	x.year.AppendAll(x.yearOf[:n])
	return n, n
}

// inSeconds turns value / 10^scale into durations, up to the first one that is too large, and returns how many.
func inSeconds(values, scales []int64) int {
	for k, v := range values {
		d, ok := csv.Decimal{Value: v, Scale: int(scales[k])}, false
		if values[k], scales[k], ok = decimalDuration(d); !ok {
			return k
		}
	}
	return len(values)
}

// filled returns how many fields come before the first empty one.
func filled(from, to []uint32) int {
	for k, f := range from {
		if to[k] == f {
			return k
		}
	}
	return len(from)
}
