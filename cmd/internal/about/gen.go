package about

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/gen"
)

// maker is posta gen.
type maker struct {
	*call.Call
	rows int
	seed uint64
	dir  string
	as   string
	json bool
}

// GenCommand returns posta gen.
func GenCommand(base *call.Call) *cli.Command {
	x := &maker{Call: base}
	return &cli.Command{
		Name: "gen", ArgsUsage: "ANALYSIS",
		Usage: "generate data of any size that resembles real data, with its quirks",
		Description: `The bytes depend on --rows and --seed alone, on every machine. Files of the same name in DIR are replaced.

   posta gen bikes --rows 1000000 --out data/bikes
   posta gen measurements --rows 10000000 --out data
   posta gen tpch --rows 60000 --out data/tpch
   posta gen hits --rows 1000000 --format parquet --out data
   posta gen h2o --rows 10000000 --out data

The measurements are stations and temperatures, to ask SQL about. tpch makes the tables of TPC-H; 6,000,000 rows of lineitem are scale 1.
hits makes the table of ClickBench; 100,000,000 rows have as many different users, URLs and search phrases as the original. h2o makes the
table of the group-by questions of db-benchmark. These three can be Parquet and JSON Lines.

` + exit.Help,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "rows", Destination: &x.rows, Value: 1_000_000, Usage: "rows of the largest stream"},
			&cli.Uint64Flag{Name: "seed", Destination: &x.seed, Value: 1, Usage: "a different seed makes different data of the same kind"},
			&cli.StringFlag{Name: call.FlagOut, Destination: &x.dir, Usage: "`DIR` to write to; created if it does not exist"},
			&cli.StringFlag{Name: "format", Destination: &x.as, Value: generated.CSV,
				Usage: "`FORMAT` of the files: " + strings.Join(generated.Formats(), ", ")},
			call.JSONFlag(&x.json),
		},
		Action: x.run,
	}
}

func (x *maker) run(c *cli.Context) error {
	name, err := call.OneArgument(c, "analysis", "bikes --rows 1000000 --out DIR")
	if err != nil {
		return err
	}
	generate := x.Generators[name]
	if generate == nil && len(x.Generators) == 0 {
		return exit.Usagef("gen: this program makes no data for any analysis")
	}
	if generate == nil {
		return exit.Usagef("gen: unknown data %q; the choices are %s", name, strings.Join(slices.Sorted(maps.Keys(x.Generators)), ", "))
	}
	dir, rows, seed := x.dir, x.rows, x.seed
	switch {
	case dir == "":
		return exit.Usagef("gen: where to? Give a directory with --out DIR")
	case rows < 0:
		return exit.Usagef("gen: --rows %d: give 0 or more", rows)
	case !slices.Contains(generated.Formats(), x.as):
		return exit.Usagef("gen: --format %s: give %s", x.as, strings.Join(generated.Formats(), ", "))
	}
	began := time.Now()
	made := &countedDir{Dir: gen.OnDisk(dir), interrupted: c.Context.Err}
	to, err := generated.In(x.as, made, name)
	if err != nil {
		return exit.Usagef("gen: --format %s: %v", x.as, err)
	}
	if err := generate(to, rows, seed); err != nil {
		if c.Context.Err() != nil {
			return fmt.Errorf("gen: %w; what is in %s is not complete", exit.ErrInterrupted, dir)
		}
		return fmt.Errorf("%w; is there room in %s, and may you write there?", err, dir)
	}
	if x.json {
		x.Printf("{\"dir\": %q, \"rows\": %d, \"seed\": %d, \"files\": %d, \"bytes\": %d}\n", dir, rows, seed, made.files, made.bytes)
		return nil
	}
	x.Notef("%s rows of %s in %s, %s, after %s: %s", units.Count(uint64(rows)), name, units.Plural(made.files, "file"),
		units.Bytes(made.bytes), display.Span(time.Since(began)), dir)
	return nil
}

// countedDir counts the bytes that are written, and stops writing at a Ctrl-C.
type countedDir struct {
	gen.Dir
	interrupted func() error
	files       int
	bytes       int64
}

func (d *countedDir) Create(name string) (io.WriteCloser, error) {
	f, err := d.Dir.Create(name)
	d.files++
	return countedFile{f, d}, err
}

type countedFile struct {
	io.WriteCloser
	dir *countedDir
}

func (f countedFile) Write(b []byte) (int, error) {
	if err := f.dir.interrupted(); err != nil {
		return 0, err
	}
	n, err := f.WriteCloser.Write(b)
	f.dir.bytes += int64(n)
	return n, err
}
