package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// verdict is how a query has ended.
type verdict string

const (
	equal      verdict = "equal"
	refused    verdict = "refused"
	failed     verdict = "failed"
	deliberate verdict = "deliberate"
	wrong      verdict = "wrong"
	panicked   verdict = "panic"
	hangs      verdict = "hang"
)

// suite counts verdicts, and says what must not be.
type suite struct {
	posta   string // the program
	limit   time.Duration
	verbose bool
	counts  map[verdict]int
	files   int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suites:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	s := &suite{counts: map[verdict]int{}}
	flags := flag.NewFlagSet("suites", flag.ContinueOnError)
	flags.StringVar(&s.posta, "posta", "posta", "the posta `program`")
	flags.DurationVar(&s.limit, "limit", 2*time.Minute, "a command that takes longer hangs")
	flags.BoolVar(&s.verbose, "v", false, "print each query that is refused or fails, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	kinds := map[string]struct {
		ending string
		run    func(context.Context, string) error
	}{"duckdb": {".test", s.script}, "parquet": {".parquet", s.parquetFile}, "json": {".json", s.jsonFile}}
	kind, known := kinds[flags.Arg(0)]
	if flags.NArg() != 2 || !known {
		return errors.New("give duckdb, parquet or json, and a folder")
	}
	posta, err := filepath.Abs(s.posta)
	if err != nil {
		return err
	}
	s.posta = posta
	err = filepath.WalkDir(flags.Arg(1), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, kind.ending) {
			return err
		}
		s.files++
		if err := kind.run(ctx, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return s.summary()
}

// note counts a verdict, and prints what somebody has to look at.
func (s *suite) note(v verdict, place, query, why string) {
	s.counts[v]++
	if v == equal || v == deliberate || (v == refused || v == failed) && !s.verbose {
		return
	}
	fmt.Printf("%s: %s\n  %s\n  %s\n", v, place, strings.ReplaceAll(query, "\n", "\n  "), why)
}

func (s *suite) summary() error {
	all := 0
	for _, n := range s.counts {
		all += n
	}
	fmt.Printf("%d files, %d queries:", s.files, all)
	for _, v := range slices.Sorted(maps.Keys(s.counts)) {
		fmt.Printf(" %d %s", s.counts[v], v)
	}
	fmt.Println()
	if bad := s.counts[wrong] + s.counts[panicked] + s.counts[hangs]; bad > 0 || all == 0 {
		return fmt.Errorf("%d of %d must not be", bad, all)
	}
	return nil
}
