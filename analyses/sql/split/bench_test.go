package split

import (
	"testing"
	"testing/fstest"

	"posta.dev/posta/analyses/sql/catalog"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/test/analysistest"
)

// benchRows is large enough that rows find an existing group far more often than they make one.
const benchRows = 400_000

// BenchmarkMeasurements is the statement of the one billion row challenge. The others, over the same rows, show what its parts
// cost.
func BenchmarkMeasurements(b *testing.B) {
	dir := b.TempDir()
	if err := gen.Measurements(gen.OnDisk(dir), benchRows, 1); err != nil {
		b.Fatal(err)
	}
	table := catalog.Table{Name: "measurements", Files: "measurements.csv", Comma: ';',
		Columns: []catalog.Column{{Name: "station", Type: types.Of(types.Text)}, {Name: "temperature", Type: types.Of(types.Double)}}}
	for _, s := range []struct{ name, text string }{
		{"challenge", "SELECT station, min(temperature), avg(temperature), max(temperature) FROM measurements GROUP BY station ORDER BY station"},
		{"filtered", "SELECT station, count(*) FROM measurements WHERE temperature > 45 GROUP BY station"},
		{"text", "SELECT count(*) FROM measurements WHERE station LIKE 'Ba%' OR upper(station) LIKE '%QUI%'"},
		{"distinct", "SELECT station, count(DISTINCT temperature) FROM measurements GROUP BY station"},
		{"spread", "SELECT station, stddev(temperature) FROM measurements GROUP BY station"},
	} {
		b.Run(s.name, func(b *testing.B) {
			a, err := Analysis(&Plan{Text: s.text, Tables: []catalog.Table{table}})
			if err != nil {
				b.Fatal(err)
			}
			analysistest.Bench(b, a, dir)
		})
	}
}

// BenchmarkLineitem is TPC-H 1, which computes much for each row, and TPC-H 6, for which parsers skip nearly all rows.
func BenchmarkLineitem(b *testing.B) {
	dir := b.TempDir()
	if err := gen.TPCH(gen.OnDisk(dir), benchRows/4, 1); err != nil {
		b.Fatal(err)
	}
	money := types.DecimalOf(15, 2)
	table := catalog.Table{Name: "lineitem", Files: "lineitem.csv", Columns: []catalog.Column{{Name: "l_quantity", Type: money},
		{Name: "l_extendedprice", Type: money}, {Name: "l_discount", Type: money},
		{Name: "l_tax", Type: money}, {Name: "l_returnflag", Type: types.Of(types.Text)}, {Name: "l_linestatus", Type: types.Of(types.Text)},
		{Name: "l_shipdate", Type: types.Of(types.Date)}}}
	for _, s := range []struct{ name, text string }{
		{"prices", `SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
			sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
			FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY l_returnflag, l_linestatus`},
		{"forecast",
			`SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
			AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24`},
	} {
		b.Run(s.name, func(b *testing.B) {
			a, err := Analysis(&Plan{Text: s.text, Tables: []catalog.Table{table}})
			if err != nil {
				b.Fatal(err)
			}
			analysistest.Bench(b, a, dir)
		})
	}
}

// BenchmarkCompile is what the client and ten nodes do before a session reads its first row.
func BenchmarkCompile(b *testing.B) {
	files := fstest.MapFS{}
	for _, name := range []string{"t", "u", "v"} {
		files[name+".csv"] = &fstest.MapFile{Data: []byte(name + "k," + name + "n\n1,2\n")}
	}
	for b.Loop() {
		p := planOf(b, "SELECT tk, sum(un) FROM t JOIN u ON tk = uk JOIN v ON uk = vk WHERE tn > 3 AND vn IN (1, 2, 3) GROUP BY tk "+
			"HAVING count(*) > 1 ORDER BY 2 LIMIT 10", files)
		if _, err := p.Bind(); err != nil {
			b.Fatal(err)
		}
		_, err := Analysis(p)
		if err != nil || p.NextPass() != nil {
			b.Fatal(err)
		}
		made := encoded(b, p)
		for range 10 {
			s, err := Decode(made)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Analysis(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
