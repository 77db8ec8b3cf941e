package soak

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// warmUp is the beginning of a record that slopes leave out: buffers, pools and the lists of ended sessions fill.
const warmUp = 30 * time.Minute

// Report is what a record shows.
type Report struct {
	From, To  time.Time
	Stood     time.Duration // the machine
	Load      float64       // median
	CPU       float64       // cores, on average
	Faults    int
	Suspected int      // incidents of nodes and medics that faults may hit
	Falsely   []string // those of spared ones: name and time
	Processes []Grown  // by name
	Kinds     []Kind   // by name
	Latency   [2]Line  // of all sessions by the minute, in seconds: p50 and p95
	Note      string   // for the page: what happened beside the run, which no record has
}

// Grown is what a process held over time. Memory is in MB, as disk is.
type Grown struct {
	Name                            string
	Spared                          bool
	Memory, Files, Goroutines, Disk Line
}

// Line is a quantity by the minute.
type Line struct {
	Hours, Values []float64 // since the record's begin; medians of each minute
	Mean          float64
	Slope, Error  float64 // by the hour, after the warm-up, and its standard error; NaN for fewer than three such minutes
}

// Kind is the sessions of one kind.
type Kind struct {
	Name                       string
	Right, Failed, Wrong, Hung int
	P50, P95                   float64 // seconds, of those that were answered
}

// Evaluate makes a report of a record with at least one sample.
func Evaluate(all []Sample) *Report {
	first, last := &all[0], &all[len(all)-1]
	r := &Report{From: first.At, To: last.At}
	times, seconds := map[string]*Kind{}, map[string][]float64{}
	var cpu float64
	var loads []float64
	var stood float64
	minutes := make([][]Sample, int(r.To.Sub(r.From)/time.Minute)+1)
	for i := range all {
		x := &all[i]
		at := int(x.At.Sub(r.From) / time.Minute)
		minutes[at] = append(minutes[at], *x)
		stood += x.Stood
		if i > 0 {
			cpu += x.CPU // the first one counts from the starts of the processes
		}
		loads = append(loads, x.Load)
		r.Faults += x.Faults
		for _, id := range x.Suspected {
			if p := x.Processes[id]; p.Spared {
				r.Falsely = append(r.Falsely, id+" at "+x.At.Format(time.TimeOnly))
			} else {
				r.Suspected++
			}
		}
		for _, e := range x.Ended {
			k := times[e.Kind]
			if k == nil {
				k = &Kind{Name: e.Kind}
				times[e.Kind] = k
			}
			switch e.Outcome {
			case Right:
				k.Right++
				seconds[e.Kind] = append(seconds[e.Kind], e.Seconds)
			case Failed:
				k.Failed++
			case Wrong:
				k.Wrong++
			case Hung:
				k.Hung++
			}
		}
	}
	r.Stood = time.Duration(stood * float64(time.Second))
	r.Load = quantile(loads, .5)
	if took := r.To.Sub(r.From).Seconds(); took > 0 {
		r.CPU = cpu / took
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		k := times[name]
		k.P50, k.P95 = quantile(seconds[name], .5), quantile(seconds[name], .95)
		r.Kinds = append(r.Kinds, *k)
	}
	r.processes(minutes)
	for i, q := range []float64{.5, .95} {
		r.Latency[i] = line(minutes, func(minute []Sample) (float64, bool) {
			var s []float64
			for i := range minute {
				for _, e := range minute[i].Ended {
					if e.Outcome == Right {
						s = append(s, e.Seconds)
					}
				}
			}
			return quantile(s, q), len(s) > 0
		})
	}
	return r
}

func (r *Report) processes(minutes [][]Sample) {
	spared := map[string]bool{}
	for _, minute := range minutes {
		for i := range minute {
			for name, p := range minute[i].Processes {
				spared[name] = p.Spared
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spared)) {
		of := func(value func(*Process) float64) Line {
			return line(minutes, func(minute []Sample) (float64, bool) {
				var s []float64
				for i := range minute {
					if p, ok := minute[i].Processes[name]; ok {
						if v := value(&p); v > 0 {
							s = append(s, v)
						}
					}
				}
				return quantile(s, .5), len(s) > 0
			})
		}
		r.Processes = append(r.Processes, Grown{
			Name: name, Spared: spared[name],
			Memory:     of(func(p *Process) float64 { return float64(p.Memory) / 1e6 }),
			Files:      of(func(p *Process) float64 { return float64(p.Files) }),
			Goroutines: of(func(p *Process) float64 { return float64(p.Goroutines) }),
			Disk:       of(func(p *Process) float64 { return float64(p.Disk) / 1e6 }),
		})
	}
}

// line computes a value of each minute that has one, and their slope.
func line(minutes [][]Sample, value func([]Sample) (float64, bool)) (l Line) {
	for i, minute := range minutes {
		if v, ok := value(minute); ok {
			l.Hours, l.Values = append(l.Hours, float64(i)/60), append(l.Values, v)
			l.Mean += v
		}
	}
	l.Mean /= math.Max(1, float64(len(l.Values)))
	from, _ := slices.BinarySearch(l.Hours, warmUp.Hours())
	l.Slope, l.Error = slope(l.Hours[from:], l.Values[from:])
	return l
}

// slope returns the slope of the line with the least squares, and its standard error.
func slope(x, y []float64) (b, e float64) {
	n := float64(len(x))
	if n < 3 {
		return math.NaN(), math.NaN()
	}
	var mx, my, xx, xy, rest float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		xx, xy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my)
	}
	b = xy / xx
	for i := range x {
		d := y[i] - my - b*(x[i]-mx)
		rest += d * d
	}
	return b, math.Sqrt(rest / (n - 2) / xx)
}

// quantile rounds up, so that of few values the 95th percentile is the largest; NaN of none.
func quantile(all []float64, q float64) float64 {
	if len(all) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// Flat reports whether a line does not grow: within two standard errors by less than a fiftieth of its mean in an hour.
func (l *Line) Flat() bool { return l.Slope-2*l.Error < l.Mean/50 }

// Growing names the quantities that grow: of spared processes, what they hold; of all, what is on their disks.
func (r *Report) Growing() (all []string) {
	check := func(name string, l *Line) {
		if !l.Flat() && !math.IsNaN(l.Slope) {
			all = append(all, name)
		}
	}
	for i := range r.Processes {
		p := &r.Processes[i]
		if p.Spared {
			check("memory of "+p.Name, &p.Memory)
			check("files of "+p.Name, &p.Files)
			check("goroutines of "+p.Name, &p.Goroutines)
		}
		check("log of "+p.Name, &p.Disk)
	}
	check("p50 of sessions", &r.Latency[0])
	check("p95 of sessions", &r.Latency[1])
	return all
}

// stage is the kind of a process.
func stage(name string) string {
	kind, _, _ := strings.Cut(name, "-")
	return kind
}
