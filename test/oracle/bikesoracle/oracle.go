package bikesoracle

import (
	"fmt"
	"math/big"
	"path/filepath"
	"sort"
	"strconv"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/test/oracle/oraclecsv"
)

type stationKey struct{ city, code, year string }

type station struct {
	name     string
	lat, lon float64
	located  bool
}

type dayKey struct{ city, date string }

type oracle struct {
	params   map[string]string
	mm       map[dayKey]float64
	stations map[stationKey]station
	rain     map[string]*oraclecsv.Mean
	doubled  map[[2]string]*[2]int64
	far      map[string]*oraclecsv.Mean
	rejected []answer.Rejected
}

// Run answers the queries over dir/<city>/{weather,stations,trips}.csv. Params that are not given have their defaults.
func Run(dir string, params map[string]string) (*answer.Answer, error) {
	o := &oracle{
		params: map[string]string{"rain_mm": "30", "year_before": "2016", "year_after": "2017", "factor": "2", "city": "montreal", "min_km": "6"},
		mm:     map[dayKey]float64{}, stations: map[stationKey]station{},
		rain: map[string]*oraclecsv.Mean{}, doubled: map[[2]string]*[2]int64{}, far: map[string]*oraclecsv.Mean{},
	}
	for k, v := range params {
		o.params[k] = v
	}
	for _, s := range []struct {
		name    string
		columns []string
		row     func(city string, f []string) error
	}{
		{"weather", []string{"date", "prectot"}, o.weather},
		{"stations", []string{"code", "name", "latitude", "longitude", "yearid"}, o.station},
		{"trips", []string{"start_date", "start_station_code", "end_station_code", "duration_sec", "yearid"}, o.trip},
	} {
		if err := o.stream(dir, s.name, s.columns, s.row); err != nil {
			return nil, fmt.Errorf("oracle: %w", err)
		}
	}
	return o.answer()
}

func (o *oracle) stream(dir, name string, columns []string, row func(string, []string) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*", name+".csv"))
	if err != nil {
		return err
	}
	sort.Strings(paths)
	rejected := answer.Rejected{Stream: name}
	for _, path := range paths {
		city := filepath.Base(filepath.Dir(path))
		name := city + "/" + name + ".csv"
		if err := oraclecsv.Read(path, name, ',', columns, &rejected.Rejects, func(f []string) error { return row(city, f) }); err != nil {
			return err
		}
	}
	o.rejected = append(o.rejected, rejected)
	return nil
}

func at(means map[string]*oraclecsv.Mean, key string) *oraclecsv.Mean {
	if means[key] == nil {
		means[key] = new(oraclecsv.Mean)
	}
	return means[key]
}

func keys(means map[string]*oraclecsv.Mean) []string {
	var out []string
	for k := range means {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func (o *oracle) answer() (*answer.Answer, error) {
	ans := &answer.Answer{Analysis: "bikes", Session: "oracle", Rejected: o.rejected}
	q := answer.Query{Name: "rain", Columns: []string{"date", "average_duration_sec", "trips"}}
	for _, date := range keys(o.rain) {
		q.Rows = append(q.Rows, []any{date, o.rain[date].Value(), o.rain[date].N})
	}
	ans.Queries = append(ans.Queries, q)
	doubled, err := o.doubledRows()
	if err != nil {
		return nil, err
	}
	ans.Queries = append(ans.Queries, doubled)
	minKm, err := strconv.ParseFloat(o.params["min_km"], 64)
	if err != nil {
		return nil, err
	}
	q = answer.Query{Name: "far", Columns: []string{"station", "average_km", "trips"}}
	for _, name := range keys(o.far) {
		if km := o.far[name].Value(); km > minKm {
			q.Rows = append(q.Rows, []any{name, km, o.far[name].N})
		}
	}
	ans.Queries = append(ans.Queries, q)
	return ans, nil
}

func (o *oracle) doubledRows() (answer.Query, error) {
	q := answer.Query{Name: "doubled", Columns: []string{"city", "station", "trips_2016", "trips_2017"}}
	factor, ok := new(big.Rat).SetString(o.params["factor"])
	if !ok {
		return q, fmt.Errorf("factor %q", o.params["factor"])
	}
	for k, n := range o.doubled {
		want := new(big.Rat).Mul(factor, new(big.Rat).SetInt64(n[0]))
		if n[0] > 0 && new(big.Rat).SetInt64(n[1]).Cmp(want) >= 0 {
			q.Rows = append(q.Rows, []any{k[0], k[1], n[0], n[1]})
		}
	}
	sort.Slice(q.Rows, func(i, j int) bool {
		a, b := q.Rows[i], q.Rows[j]
		if a[0] != b[0] {
			return a[0].(string) < b[0].(string)
		}
		return a[1].(string) < b[1].(string)
	})
	return q, nil
}
