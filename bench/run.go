package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Config says what to measure.
type Config struct {
	Sections []string // of SectionNames; empty means all
	Rounds   int      // that count; one more warms up
	Dir      string   // for logs and generated data, on the disk that is to be measured; generated data stays there
	Results  string   // directory of the JSON report; empty writes none
	Self     []string // the command that leads to Child
	Profile  string   // directory for a CPU profile of every process; empty for none
	Out      io.Writer

	Amount int64             // bytes through log and link in a round
	Sizes  []int             // of frames, in bytes
	Rows   int               // facts of every analysis; 0 for as many as its subject says
	Lanes  int               // of the client; 0 for its default
	Chunk  int               // of the client, in bytes; 0 for what the cluster asks for
	TCP    int               // first port of nodes on 127.0.0.1; 0 for unix sockets
	Set    map[string]string // settings of the topology, as "limits.window": "1MiB"
}

// Defaults of Config.
const (
	DefaultRounds = 5
	DefaultAmount = 128 << 20
)

// DefaultSizes are the frames that the issue asks for.
var DefaultSizes = []int{256, 1 << 10, 64 << 10, 256 << 10}

type section struct {
	name, about string
	measure     func(context.Context, *Config) ([]Case, error)
}

func sections() []section {
	all := []section{
		{"log", "records appended in group commits of 4 MiB, beside write + fsync of the same bytes in 4 MiB pieces", measureLog},
		{"csv", "trips in memory, by CPU time of one core, beside encoding/csv, which finds fields and parses nothing", measureCSV},
		{"link", "frames from node to node, durable at both, beside write + fsync of the same bytes in 4 MiB pieces", measureLink},
	}
	for _, s := range subjects() {
		about := fmt.Sprintf("analysis %s on a cluster of processes, beside the naive oracle with encoding/csv", s.name())
		all = append(all, section{s.name(), about, s.measure})
	}
	return all
}

// SectionNames are the names of all sections.
func SectionNames() []string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}

// Run measures, prints each section when it is done, and writes the report.
func Run(ctx context.Context, c Config) error {
	for _, name := range c.Sections {
		if !slices.Contains(SectionNames(), name) {
			return fmt.Errorf("bench: there is no section %q; there is %s", name, strings.Join(SectionNames(), ", "))
		}
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	r := Report{Date: time.Now(), Commit: commit(), Command: os.Args, Machine: thisMachine(), Rounds: c.Rounds}
	m := r.Machine
	fmt.Fprintf(c.Out, "%s, %d cores, %s, %s, load %s, commit %s; medians of %d rounds (least–most)\n",
		m.Processor, m.Cores, m.OS, m.Go, m.Load, r.Commit, c.Rounds)
	for _, s := range sections() {
		if len(c.Sections) > 0 && !slices.Contains(c.Sections, s.name) {
			continue
		}
		cases, err := s.measure(ctx, &c)
		if err != nil {
			return fmt.Errorf("bench %s: %w", s.name, err)
		}
		done := Section{Name: s.name, About: s.about, Cases: cases}
		if err := done.Print(c.Out); err != nil {
			return fmt.Errorf("bench: print: %w", err)
		}
		r.Sections = append(r.Sections, done)
	}
	if c.Results == "" {
		return nil
	}
	name, err := r.Write(c.Results)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	fmt.Fprintf(c.Out, "\nwritten to %s\n", name)
	return nil
}
