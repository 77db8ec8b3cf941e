// Command bench measures Posta, see package bench.
//
//	go run ./bench/cmd/bench                       # everything, ten minutes or more
//	go run ./bench/cmd/bench -rounds 3 link bikes  # some sections
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"posta/bench"
)

func main() {
	if bench.IsChild(os.Args[1:]) {
		os.Exit(bench.Child(os.Args[1:]))
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	c := bench.Config{Self: []string{exe}, Out: os.Stdout, Sizes: bench.DefaultSizes, Set: map[string]string{}}
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: bench [flags] [%s ...]\n", strings.Join(bench.SectionNames(), " "))
		flag.PrintDefaults()
	}
	flag.IntVar(&c.Rounds, "rounds", bench.DefaultRounds, "rounds that count")
	flag.StringVar(&c.Dir, "dir", filepath.Join(os.TempDir(), "posta-bench"), "where logs and generated data go: the disk that is measured")
	flag.StringVar(&c.Results, "results", "bench-results", "where the JSON report goes; empty for none")
	flag.StringVar(&c.Profile, "profile", "", "a directory for a CPU profile of every process")
	amount := flag.Int64("amount", bench.DefaultAmount>>20, "MiB in a round of log and link")
	flag.IntVar(&c.Rows, "rows", 0, "facts of every analysis; 0 for as many as each has by default, 2 to 5 million")
	flag.IntVar(&c.Lanes, "lanes", 0, "lanes of the client; 0 for its default")
	flag.IntVar(&c.Chunk, "chunk", 0, "bytes of a chunk; 0 for what the cluster asks for")
	flag.IntVar(&c.TCP, "tcp", 0, "first port of 127.0.0.1 for the nodes; 0 for unix sockets")
	flag.Func("sizes", "frame sizes in bytes, as 1024,65536", c.ParseSizes)
	flag.Func("set", "a setting of the topology, as limits.window=1MiB; may be repeated", c.ParseSetting)
	flag.Parse()
	c.Amount, c.Sections = *amount<<20, flag.Args()
	return bench.Run(ctx, c)
}
