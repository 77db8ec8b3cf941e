package compile

import (
	"testing"

	"posta.dev/posta/analyses/analysistest"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/internal/gen"
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
	table := Table{Name: "measurements", Files: "measurements.csv", Comma: ';',
		Columns: []Column{{Name: "station", Type: types.Of(types.Text)}, {Name: "temperature", Type: types.Of(types.Double)}}}
	for _, s := range []struct{ name, text string }{
		{"challenge", "SELECT station, min(temperature), avg(temperature), max(temperature) FROM measurements GROUP BY station ORDER BY station"},
		{"filtered", "SELECT station, count(*) FROM measurements WHERE temperature > 45 GROUP BY station"},
		{"text", "SELECT count(*) FROM measurements WHERE station LIKE 'Ba%' OR upper(station) LIKE '%QUI%'"},
		{"distinct", "SELECT station, count(DISTINCT temperature) FROM measurements GROUP BY station"},
		{"spread", "SELECT station, stddev(temperature) FROM measurements GROUP BY station"},
	} {
		b.Run(s.name, func(b *testing.B) {
			a, err := Analysis(&Plan{Text: s.text, Tables: []Table{table}})
			if err != nil {
				b.Fatal(err)
			}
			analysistest.Bench(b, a, dir)
		})
	}
}
