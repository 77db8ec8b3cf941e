// Package command is `posta bench`, the command line of package bench. It is not part of package cmd, because then programs
// with their own analyses would contain Posta's analyses, oracles and generators.
package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/bench"
	"posta.dev/posta/client/source/parquet/generated"
)

const name = "bench"

// Child reports whether args (os.Args) are those of a process that the bench has started, and returns the arguments for
// bench.Child. A program must call it first, because such a process has no other commands.
func Child(args []string) ([]string, bool) {
	if len(args) < 2 || args[1] != name || !bench.IsChild(args[2:]) {
		return nil, false
	}
	return args[2:], true
}

// New returns the command.
func New() *cli.Command {
	return &cli.Command{
		Name: name, ArgsUsage: "[SECTION...]",
		Usage: "measure Posta beside other systems that do the same work, in turns",
		Description: `Sections: ` + strings.Join(bench.SectionNames(), ", ") + `; race is all
races. Without any, all are measured: half an hour or more, and 8 GB of disk.

In a race all contestants answer the same queries over the same files, round after round, and no answer may differ:
` + strings.Join(bench.ContestantNames(), ", ") + `.
Those that cannot take part are named with the reason.
The oracle and the programs of bench/rivals, duckdb and the server of nats, are built if the command
runs in the folder that holds Posta; that takes Go, and for duckdb g++.

   posta bench race                                   the races, with everybody
   posta bench --rows 300000 --rounds 1 race-bikes    a small one
   posta bench --contestants duckdb race-memes        two, and the oracle
   posta bench link log                               beside the plain file
   posta bench disk                                   the disk, in several ways
   posta bench latency                                of a frame, chunk, session
   posta bench hosts                                  what a second host gives
   posta bench keys                                   what keys cost
   posta bench growth model                           more rows, nodes and cores
   posta bench --format parquet clickbench tpch       statements, beside DuckDB
   posta bench --format jsonl h2o                     groups, beside DuckDB
   posta bench --steps --rows 1000000 clickbench      where their time goes
   posta bench small                                  a statement over one row

Tables go to standard output, all values to DIR of --results as JSON, and as a page to look at, HTML without anything from elsewhere.
Nodes, clients and others are processes of their own, and leave nothing but generated data and the rivals in --dir: the disk that is measured.`,
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "rounds", Value: bench.DefaultRounds, Usage: "rounds that count, after one that warms up"},
			&cli.BoolFlag{Name: "cold", Usage: "skip the round that warms up: the figures then show that it works, not how fast"},
			&cli.StringFlag{Name: "dir", Value: filepath.Join(os.TempDir(), "posta-bench"), DefaultText: "posta-bench among temporary files",
				Usage: "`DIR` for logs and generated data: the disk that is measured"},
			&cli.StringFlag{Name: "results", Value: "bench-results", Usage: "`DIR` for the reports; empty for none"},
			&cli.StringFlag{Name: "profile", Usage: "a `DIR` for a CPU profile of every process"},
			&cli.IntFlag{Name: "rows", Usage: "facts of every analysis; 0 for as many as each has by default, 2 to 5 million"},
			&cli.StringFlag{Name: "format", Value: generated.CSV, Usage: "`FORMAT` of the files of tpch, clickbench and h2o: " +
				strings.Join(generated.Formats(), ", ")},
			&cli.BoolFlag{Name: "steps", Usage: "for sql, tpch, clickbench and h2o: CPU time per row of each step, in place of the race"},
			&cli.StringSliceFlag{Name: "contestants", Usage: "only these `NAMES` in races, with commas between them, beside posta and the oracle"},
			&cli.StringFlag{Name: "duckdb", Usage: "the `PROGRAM` of bench/rivals/duckdb, in place of building it"},
			&cli.Int64Flag{Name: "amount", Value: bench.DefaultAmount >> 20, Usage: "MiB in a round of log and link"},
			&cli.StringFlag{Name: "sizes", Usage: "frame sizes of log and link in `BYTES`, like 1024,65536", DefaultText: "256 B to 1 MiB"},
			&cli.StringFlag{Name: "links", Usage: "how many links at once, in `NUMBERS` like 1,8", DefaultText: "1 to 8"},
			&cli.IntFlag{Name: "lanes", Usage: "lanes of the client; 0 for its default"},
			&cli.IntFlag{Name: "chunk", Usage: "bytes of a chunk; 0 for what the cluster asks for"},
			&cli.IntFlag{Name: "tcp", Usage: "first port of 127.0.0.1 for the nodes; 0 for unix sockets"},
			&cli.BoolFlag{Name: "keys", Usage: "with --tcp: nodes and client have keys; the section keys compares"},
			&cli.StringSliceFlag{Name: "set", Usage: "a setting of the topology, like limits.window=1MiB; may be repeated"},
		},
		Action: measure,
	}
}

func measure(x *cli.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("bench: find this program, which nodes are: %w", err)
	}
	c := bench.Config{
		Sections: x.Args().Slice(), Rounds: x.Int("rounds"), Cold: x.Bool("cold"), Dir: x.String("dir"), Results: x.String("results"),
		Profile: x.String("profile"), Format: x.String("format"), Steps: x.Bool("steps"),
		Self: []string{exe, name}, Out: x.App.Writer,
		Amount: x.Int64("amount") << 20, Sizes: bench.DefaultSizes, Links: bench.DefaultLinks, Rows: x.Int("rows"), Lanes: x.Int("lanes"),
		Chunk: x.Int("chunk"),
		TCP:   x.Int("tcp"), Keys: x.Bool("keys"), Set: map[string]string{}, DuckDB: x.String("duckdb"),
	}
	for _, names := range x.StringSlice("contestants") {
		c.Contestants = append(c.Contestants, strings.Split(names, ",")...)
	}
	if sizes := x.String("sizes"); sizes != "" {
		if err := c.ParseSizes(sizes); err != nil {
			return fmt.Errorf("bench: --sizes: %w", err)
		}
	}
	if links := x.String("links"); links != "" {
		if err := c.ParseLinks(links); err != nil {
			return fmt.Errorf("bench: --links: %w", err)
		}
	}
	for _, setting := range x.StringSlice("set") {
		if err := c.ParseSetting(setting); err != nil {
			return fmt.Errorf("bench: --set: %w", err)
		}
	}
	if c.Rounds < 1 || c.Amount < 1 || c.Rows < 0 {
		return fmt.Errorf("bench: --rounds %d, --amount %d, --rows %d: give at least 1, 1 and 0", c.Rounds, c.Amount>>20, c.Rows)
	}
	return bench.Run(x.Context, c)
}
