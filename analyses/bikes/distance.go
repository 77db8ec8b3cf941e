package bikes

import "posta.dev/posta/analyses/internal/geo"

// noPoint is the point of a station without coordinates.
const noPoint = -1

// points numbers distinct coordinates. Most stations stay in place for years, so there are fewer points than stations, and
// fewer pairs of points.
type points struct {
	number map[[2]float64]int32
	all    []geo.Point
}

func (p *points) of(lat, lon float64) int32 {
	key := [2]float64{lat, lon}
	n, ok := p.number[key]
	if !ok {
		if p.number == nil {
			p.number = map[[2]float64]int32{}
		}
		n = int32(len(p.all))
		p.number[key] = n
		p.all = append(p.all, geo.At(lat, lon))
	}
	return n
}

// pairs remembers distances: most trips are between the same few pairs of stations, and two sines cost more than the rest of
// a trip. Distances are the same in both directions, to the last bit, so half a square suffices. It is filled in the order in
// which trips need it. Rejected: a hash table of the pairs that occur would be smaller, but its probes miss the cache as
// often as the square does, and each costs a hash.
type pairs struct{ km []float64 } // of (a, b) at a·(a+1)/2 + b, a > b; 0 is not known yet

// maxSquare is how many points the square has room for. It bounds the memory: 16 MB for twice the stations of a large city.
// Distances of further points are computed for each trip.
const maxSquare = 2048

// grow makes room for the given number of points. Pages of memory that no pair of stations needs are never touched.
func (c *pairs) grow(points int) {
	n := min(points, maxSquare)
	if n = n * (n + 1) / 2; n > len(c.km) {
		c.km = append(make([]float64, 0, n), c.km...)[:n]
	}
}

// square returns the index of the distance of two points, -1 if it is not kept.
func (c *pairs) square(a, b int32) int {
	a, b = max(a, b), min(a, b)
	if at := int(a)*int(a+1)/2 + int(b); at < len(c.km) {
		return at
	}
	return -1
}

func (k *counters) distance(a, b int32) float64 {
	at := k.pairs.square(a, b)
	if at < 0 {
		return geo.Km(&k.points.all[a], &k.points.all[b])
	}
	d := &k.pairs.km[at]
	if *d == 0 {
		*d = geo.Km(&k.points.all[a], &k.points.all[b])
	}
	return *d
}

// distances appends the distance of each hop.
func (k *counters) distances(dst []float64, hops []hop) []float64 {
	known := k.pairs.km
	for _, h := range hops {
		d := 0.0
		if at := k.pairs.square(h.from, h.to); at >= 0 {
			d = known[at]
		}
		dst = append(dst, d)
	}
	for i, d := range dst {
		if d == 0 {
			dst[i] = k.distance(hops[i].from, hops[i].to)
		}
	}
	return dst
}
