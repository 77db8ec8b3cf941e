package bikes

import "math"

const earthRadiusKm = 6371.0088

// noPoint is the point of a station without coordinates.
const noPoint = -1

// point is coordinates, with what the haversine formula needs of one end.
type point struct{ lat, lon, cosLat float64 } // in radians

// points numbers different coordinates. Most stations stay where they are for years, so there are fewer points than stations,
// and fewer pairs of them.
type points struct {
	number map[[2]float64]int32
	all    []point
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
		rad := lat * math.Pi / 180
		p.all = append(p.all, point{rad, lon * math.Pi / 180, math.Cos(rad)})
	}
	return n
}

// km is the great-circle distance by the haversine formula. The conversions keep the compiler from fusing products and sums
// where the processor could: all hosts of a session must compute the same bits (D1).
func km(a, b *point) float64 {
	lat, lon := math.Sin((b.lat-a.lat)/2), math.Sin((b.lon-a.lon)/2)
	h := float64(lat*lat) + float64(float64(a.cosLat*b.cosLat)*float64(lon*lon))
	return 2 * earthRadiusKm * math.Asin(min(1, math.Sqrt(h)))
}

// pairs remembers distances: most trips are one of few pairs of stations, and two sines cost more than the rest of a trip.
// It is a cache without chains, so that any number of pairs takes the same memory.
type pairs struct{ slots []pairSlot }

type pairSlot struct {
	key uint64 // both points + 1; 0 is empty
	km  float64
}

const pairBits = 16

func (c *pairs) km(all []point, a, b int32) float64 {
	if c.slots == nil {
		c.slots = make([]pairSlot, 1<<pairBits)
	}
	key := uint64(uint32(a+1))<<32 | uint64(uint32(b+1))
	s := &c.slots[key*goldenRatio>>(64-pairBits)]
	if s.key != key {
		*s = pairSlot{key, km(&all[a], &all[b])}
	}
	return s.km
}
