package gen

import (
	"math/rand/v2"
	"strconv"
)

// way is a route, with everything that depends only on the route, as text.
type way struct {
	start, destination []byte
	arrivals           []byte
	miles              []byte // empty for one in fourteen
	tail               [2][]byte
	stops              int
	minutes            int
	cents              int // the least fare, which is that of the journey
}

// tail has the text before segmentsArrivalAirportCode, and the text after it.
const (
	beforeArrivals = iota
	behindArrivals
)

var airlines = [...][2]string{
	{"Relay Air", "RA"}, {"Northern Post", "NP"}, {"Coach & Wing", "CW"}, {"Blue Saddle", "BS"}, {"Estafeta Airlines", "EA"},
	{"Lantern", "LN"},
}

var planes = [...]string{"Mule 717", "Courier C320 SHARKLETS", "Courier C321", "Pony 175", "Drover 737-800", "Drover 757-300"}

const wayCount = 6000

func makeWays(ports []port, r *rand.Rand) []way {
	ways := make([]way, wayCount)
	for i := range ways {
		ways[i] = makeWay(ports, i, r)
	}
	return ways
}

// segmentsOf gives the numbers of segments of 1000 ways.
var segmentsOf = [...]struct{ upTo, segments int }{{290, 1}, {915, 2}, {994, 3}, {998, 4}, {1000, 5}}

func makeWay(ports []port, n int, r *rand.Rand) way {
	from := r.IntN(hubs)
	to := (from + 1 + r.IntN(hubs-1)) % hubs
	segments, x := 1, n%1000
	for _, s := range segmentsOf {
		if x < s.upTo {
			segments = s.segments
			break
		}
	}
	last := &ports[to]
	if n%40 == 3 { // another airport of the city
		last = &ports[(to+1)%hubs]
	}
	stops := []*port{&ports[from]}
	for i := 1; i < segments; i++ {
		stops = append(stops, drawStop(ports, stops[i-1], last, segments, r))
	}
	w := way{start: ports[from].code, destination: ports[to].code, stops: segments - 1}
	if n%701 == 8 { // a round trip
		w.destination, last = w.start, &ports[from]
	}
	w.write(append(stops, last), n, r)
	return w
}

// drawStop draws a stop on the way to last: the best of a few, as a seller of tickets would choose. Long ways also stop at
// fields.
func drawStop(ports []port, at, last *port, segments int, r *rand.Rand) *port {
	var best *port
	least := 0
	for range 3 {
		p := &ports[r.IntN(hubs)]
		if segments > 3 || r.IntN(3) == 0 {
			p = &ports[r.IntN(hubs+fields)]
		}
		if d := milesBetween(at, p) + milesBetween(p, last); best == nil || d < least {
			best, least = p, d
		}
	}
	return best
}

// write makes the texts of a way along stops.
func (w *way) write(stops []*port, n int, r *rand.Rand) {
	var arrivals, departures, names, codes, equipment, durations, distances, cabins, epochs, times []byte
	miles, airline := 0, airlines[r.IntN(len(airlines))]
	for i := 1; i < len(stops); i++ {
		d := milesBetween(stops[i-1], stops[i])
		miles += d
		w.minutes += 40 + d/8 + 60*(i-1)
		for _, l := range []struct {
			to   *[]byte
			text string
		}{
			{&arrivals, portText(stops[i], n, i)}, {&departures, portText(stops[i-1], n, i-1)}, {&names, airline[0]}, {&codes, airline[1]},
			{&equipment, planes[r.IntN(len(planes))]}, {&durations, strconv.Itoa(60 * (40 + d/8))}, {&distances, strconv.Itoa(d)},
			{&cabins, "coach"}, {&epochs, strconv.Itoa(1655591400 + 60*r.IntN(60000))},
			{&times, "2022-07-" + strconv.Itoa(10+r.IntN(20)) + "T" + string(clock()[5*(600+10*i):5*(600+10*i)+5]) + ":00.000-04:00"},
		} {
			if i > 1 {
				*l.to = append(*l.to, "||"...)
			}
			*l.to = append(*l.to, l.text...)
		}
	}
	w.arrivals = arrivals
	w.cents = 4000 + 10*milesBetween(stops[0], stops[len(stops)-1])
	w.miles = wayMiles(miles, n)
	w.tail[beforeArrivals] = joined(epochs, times, epochs, times)
	w.tail[behindArrivals] = joined(departures, names, codes, equipment, durations, distances, cabins)
}

// portText returns the code of an airport on a way. Some ways stop at an unknown airport.
func portText(p *port, n, i int) string {
	if n%83 == 5 && i == 1 {
		return "9" + string(p.code[1:])
	}
	return string(p.code)
}

// wayMiles returns the total as the file gives it.
func wayMiles(miles, n int) []byte {
	switch {
	case n%14 == 4:
		return nil
	case n%211 == 6:
		return []byte("0")
	case n%223 == 7:
		return []byte("-1")
	case n%97 == 9:
		return strconv.AppendInt(append(strconv.AppendInt(nil, int64(miles), 10), '.'), int64(n%1000), 10)
	}
	return strconv.AppendInt(nil, int64(miles), 10)
}

func joined(columns ...[]byte) []byte {
	var b []byte
	for i, c := range columns {
		b = append(appendComma(b, i), c...)
	}
	return b
}
