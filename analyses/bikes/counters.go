package bikes

import (
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// counters holds what Facts counts between two flushes, in dense slices. The numbers of days and names do not change during
// the joiner's life. The touched lists name each counter that is not zero once.
type counters struct {
	dates        []int64 // rainy days of any city
	dateOf       map[int64]int32
	seconds      []exact.Sum
	riders       []int64
	touchedDates []int32

	names         []stationID // name 0 stands for no station
	nameOf        map[stationID]int32
	counts        []int64 // 2·name: trips of the year before, 2·name + 1: of the year after
	touchedCounts []int32
	km            []exact.Sum
	arrived       []int64
	touchedNames  []int32

	points points
	pairs  pairs
}

// stationID is what doubled groups by.
type stationID struct{ city, name string }

func newCounters() *counters {
	k := &counters{dateOf: map[int64]int32{}, nameOf: map[stationID]int32{}}
	k.station("", "")
	k.counts[0] = 1 // counts trips that count for no station; it is never 0, so it is never on the list
	return k
}

func (k *counters) rainDay(date int64) int32 {
	n, ok := k.dateOf[date]
	if !ok {
		n = int32(len(k.dates))
		k.dateOf[date] = n
		k.dates = append(k.dates, date)
		k.seconds = append(k.seconds, exact.Sum{})
		k.riders = append(k.riders, 0)
	}
	return n
}

func (k *counters) station(city, name string) int32 {
	id := stationID{city, name}
	n, ok := k.nameOf[id]
	if !ok {
		n = int32(len(k.names))
		k.nameOf[id] = n
		k.names = append(k.names, id)
		k.counts = append(k.counts, 0, 0)
		k.km = append(k.km, exact.Sum{})
		k.arrived = append(k.arrived, 0)
	}
	return n
}

// arrive counts a trip to a station.
func (k *counters) arrive(name int32, km float64) {
	if k.arrived[name] == 0 {
		k.touchedNames = append(k.touchedNames, name)
	}
	k.arrived[name]++
	k.km[name].Add(km)
}

// ride counts a trip on a rainy day, and returns the sum to which its duration is to be added.
func (k *counters) ride(date int32) *exact.Sum {
	if k.riders[date] == 0 {
		k.touchedDates = append(k.touchedDates, date)
	}
	k.riders[date]++
	return &k.seconds[date]
}

func (k *counters) flushRain(t *fold.Table) {
	for _, n := range k.touchedDates {
		row := t.Row(t.Key().Int(k.dates[n]))
		t.AddExact(row, 0, &k.seconds[n])
		t.AddSum(row, 1, k.riders[n])
		k.seconds[n].Reset()
		k.riders[n] = 0
	}
	k.touchedDates = k.touchedDates[:0]
}

func (k *counters) flushDoubled(t *fold.Table, sameYear bool) {
	for _, n := range k.touchedCounts {
		id := &k.names[n/2]
		row := t.Row(t.Key().String(id.city).String(id.name))
		t.AddSum(row, int(n&1), k.counts[n])
		if sameYear {
			t.AddSum(row, 1, k.counts[n])
		}
		k.counts[n] = 0
	}
	k.touchedCounts = k.touchedCounts[:0]
}

func (k *counters) flushFar(t *fold.Table) {
	for _, n := range k.touchedNames {
		row := t.Row(t.Key().String(k.names[n].name))
		t.AddExact(row, 0, &k.km[n])
		t.AddSum(row, 1, k.arrived[n])
		k.km[n].Reset()
		k.arrived[n] = 0
	}
	k.touchedNames = k.touchedNames[:0]
}
