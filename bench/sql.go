package bench

import (
	"context"
	"fmt"

	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/internal/gen"
)

// measurements is the default number of rows.
const measurements = 10_000_000

// measureSQL measures statements over the measurements. The first is the one billion row challenge.
func measureSQL(ctx context.Context, c *Config) (Section, error) {
	const view = "CREATE VIEW measurements AS SELECT * FROM read_csv('DIRECTORY/measurements.csv', auto_detect = false, header = true, " +
		"delim = ';', columns = {'station': 'VARCHAR', 'temperature': 'DOUBLE'});\n"
	var all []statement
	for _, s := range [][2]string{
		{"challenge", "SELECT station, min(temperature), avg(temperature), max(temperature) FROM measurements GROUP BY station ORDER BY station"},
		{"filtered", "SELECT station, count(*), sum(temperature) FROM measurements WHERE temperature > 30 AND station LIKE '%il%' GROUP BY " +
			"station ORDER BY station"},
		{"texts", "SELECT upper(left(station, 2)), count(*) FROM measurements GROUP BY 1 ORDER BY 1"},
		{"distinct", "SELECT station, count(DISTINCT temperature) FROM measurements GROUP BY station ORDER BY station"},
	} {
		one, err := newStatement(s[0], s[1], declarations{theirs: view})
		if err != nil {
			return Section{}, err
		}
		all = append(all, one)
	}
	return c.ask(ctx, "statements over %d measurements",
		dataset{"measurements", generated.CSV, c.factsOr(measurements), gen.Measurements}, all)
}

// ask makes the data and measures statements about it. Posta's figures are those of the command `posta sql` on a private cluster, of all
// its processes, from the command's start to its end. DuckDB's time ends with the last row. about has a %d for the rows.
func (c *Config) ask(ctx context.Context, about string, data dataset, statements []statement) (done Section, err error) {
	dir, size, err := data.made(ctx, c)
	if err != nil {
		return done, err
	}
	if c.Steps {
		done.About = fmt.Sprintf(about+", %d MB", data.rows, size/1e6) + aboutSteps
		return c.stepsOf(ctx, done, dir, data.rows, statements)
	}
	done.About = fmt.Sprintf(about+", %d MB, with start and end of a cluster; times of DuckDB 1.5 over those of posta sql in the same round",
		data.rows, size/1e6)
	return c.besideDuckDB(ctx, done, dir, statements)
}
