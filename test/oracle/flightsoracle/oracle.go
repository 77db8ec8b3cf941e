package flightsoracle

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/test/oracle/oraclecsv"
)

type place struct{ lat, lon float64 }

// row is an itinerary that was not rejected.
type row struct {
	leg, start, destination string
	arrivals                []string
	minutes                 int64
	fare                    *big.Rat
	miles                   float64
}

func (r *row) route() string   { return strings.Join(append([]string{r.start}, r.arrivals...), "||") }
func (r *row) journey() string { return r.start + "-" + r.destination }
func (r *row) stopovers() int  { return len(r.arrivals) - 1 }
func (r *row) dollars() float64 {
	f, _ := r.fare.Float64()
	return f
}

type oracle struct {
	minStopovers, legs int
	factor             float64
	airports           map[string]place
	stopovers          []row
	detours            [][]any
	fares              map[string][]*big.Rat // above 0, by journey
	sum                *big.Rat
	count              int64
}

// Run answers the queries over dir/airports-codepublic.csv and dir/itineraries.csv. Params that are not given have their
// defaults.
func Run(dir string, params map[string]string) (*answer.Answer, error) {
	o := &oracle{minStopovers: 3, legs: 2, factor: 4, airports: map[string]place{}, fares: map[string][]*big.Rat{}, sum: new(big.Rat)}
	if err := o.params(params); err != nil {
		return nil, err
	}
	rejected, err := oraclecsv.ReadStreams(dir,
		oraclecsv.Stream{Name: "airports", File: "airports-codepublic.csv", Comma: ';', Row: o.airport,
			Columns: []string{"Airport Code", "Latitude", "Longitude"}},
		oraclecsv.Stream{Name: "itineraries", File: "itineraries.csv", Row: o.itinerary, Columns: []string{"legId", "startingAirport",
			"destinationAirport", "travelDuration", "totalFare", "totalTravelDistance", "segmentsArrivalAirportCode"}})
	if err != nil {
		return nil, err
	}
	return &answer.Answer{Analysis: "flights", Session: "oracle", Rejected: rejected,
		Queries: []answer.Query{o.queryStopovers(), o.queryDetours(), o.queryFastest(), o.queryFares()}}, nil
}

func (o *oracle) params(params map[string]string) (err error) {
	for name, v := range params {
		switch name {
		case "min_stopovers":
			o.minStopovers, err = strconv.Atoi(v)
		case "fastest_legs":
			o.legs, err = strconv.Atoi(v)
		case "detour_factor":
			o.factor, err = strconv.ParseFloat(v, 64)
		default:
			err = fmt.Errorf("no parameter %q", name)
		}
		if err != nil {
			return fmt.Errorf("oracle: %w", err)
		}
	}
	return nil
}

func (o *oracle) take(r row) {
	if r.stopovers() >= o.minStopovers {
		o.stopovers = append(o.stopovers, r)
	}
	o.detour(&r)
	if r.fare.Sign() > 0 {
		o.fares[r.journey()] = append(o.fares[r.journey()], r.fare)
		o.sum.Add(o.sum, r.fare)
		o.count++
	}
}

func (o *oracle) detour(r *row) {
	a, ok := o.airports[r.start]
	b, also := o.airports[r.destination]
	if !ok || !also {
		return
	}
	direct, total := distance(a, b), r.miles
	if !(total > 0) {
		total = 0
		for _, code := range r.arrivals {
			next, ok := o.airports[code]
			if !ok {
				return
			}
			total += distance(a, next)
			a = next
		}
	}
	if total > o.factor*direct {
		o.detours = append(o.detours, []any{r.leg, r.route(), total, direct})
	}
}

func distance(a, b place) float64 {
	rad := func(deg float64) float64 { return deg * math.Pi / 180 }
	dLat, dLon := math.Sin((rad(b.lat)-rad(a.lat))/2), math.Sin((rad(b.lon)-rad(a.lon))/2)
	h := float64(dLat*dLat) + float64(math.Cos(rad(a.lat))*math.Cos(rad(b.lat))*float64(dLon*dLon))
	return 2 * 6371.0088 * math.Asin(math.Min(1, math.Sqrt(h))) / 1.609344
}

// byColumns sorts rows of strings, float64 and int64, first column first.
func byColumns(rows [][]any) {
	sort.SliceStable(rows, func(i, j int) bool {
		for c := range rows[i] {
			switch a := rows[i][c].(type) {
			case string:
				if b := rows[j][c].(string); a != b {
					return a < b
				}
			case float64:
				if b := rows[j][c].(float64); a != b {
					return a < b
				}
			case int64:
				if b := rows[j][c].(int64); a != b {
					return a < b
				}
			}
		}
		return false
	})
}

func (o *oracle) queryStopovers() answer.Query {
	q := answer.Query{Name: "stopovers", Columns: []string{"leg_id", "route", "total_fare", "stopovers"}}
	for i := range o.stopovers {
		r := &o.stopovers[i]
		q.Rows = append(q.Rows, []any{r.leg, r.route(), r.dollars(), int64(r.stopovers())})
	}
	byColumns(q.Rows)
	return q
}

func (o *oracle) queryDetours() answer.Query {
	q := answer.Query{Name: "detours", Columns: []string{"leg_id", "route", "total_distance_mi", "direct_distance_mi"}, Rows: o.detours}
	byColumns(q.Rows)
	return q
}

func (o *oracle) queryFastest() answer.Query {
	best := map[string]map[string]*row{}
	for i := range o.stopovers {
		r := &o.stopovers[i]
		legs := best[r.journey()]
		if legs == nil {
			legs = map[string]*row{}
			best[r.journey()] = legs
		}
		old := legs[r.leg]
		if old == nil || r.minutes < old.minutes || r.minutes == old.minutes && r.route() < old.route() {
			legs[r.leg] = r
		}
	}
	q := answer.Query{Name: "fastest", Columns: []string{"journey", "leg_id", "route", "stopovers", "duration_min"}}
	for _, journey := range sorted(best) {
		var legs []*row
		for _, r := range best[journey] {
			legs = append(legs, r)
		}
		sort.Slice(legs, func(i, j int) bool {
			if legs[i].minutes != legs[j].minutes {
				return legs[i].minutes < legs[j].minutes
			}
			return legs[i].leg < legs[j].leg
		})
		for _, r := range legs[:min(o.legs, len(legs))] {
			q.Rows = append(q.Rows, []any{journey, r.leg, r.route(), int64(r.stopovers()), r.minutes})
		}
	}
	return q
}

func (o *oracle) queryFares() answer.Query {
	q := answer.Query{Name: "fares", Columns: []string{"journey", "average_fare", "max_fare", "flights"}}
	if o.count == 0 {
		return q
	}
	mean := new(big.Rat).Quo(o.sum, new(big.Rat).SetInt64(o.count))
	for _, journey := range sorted(o.fares) {
		sum, most, n := new(big.Rat), new(big.Rat), int64(0)
		for _, f := range o.fares[journey] {
			if f.Cmp(mean) <= 0 {
				continue
			}
			sum.Add(sum, f)
			n++
			if f.Cmp(most) > 0 {
				most = f
			}
		}
		if n > 0 {
			average, _ := sum.Quo(sum, new(big.Rat).SetInt64(n)).Float64()
			highest, _ := most.Float64()
			q.Rows = append(q.Rows, []any{journey, average, highest, n})
		}
	}
	return q
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
