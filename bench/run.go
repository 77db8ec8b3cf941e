package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/client/source/parquet/generated"
)

// Config says what to measure.
type Config struct {
	Sections []string // of SectionNames; empty means all
	Rounds   int      // how many rounds count; one more warms up
	Cold     bool     // no round warms up: half the time, for checking that everything works, not how fast
	Dir      string   // for logs and generated data, on the disk to be measured; generated data remains there
	Results  string   // directory of the JSON report; empty writes none
	Self     []string // the command that runs Child
	Source   string   // the root of Posta's source, to build rivals from; empty: the current directory
	Profile  string   // directory for a CPU profile of every process; "" makes none
	Out      io.Writer

	Amount int64             // bytes through log and link per round
	Sizes  []int             // of frames, in bytes
	Links  []int             // how many links at once
	Rows   int               // facts of every analysis; 0: as many as its workload has by default
	Steps  bool              // sql, tpch, clickbench and h2o measure the steps of each statement, in place of racing
	Format string            // of the files of tpch, clickbench and h2o, as posta gen has them; empty: CSV
	Lanes  int               // of the client; 0: the client's default
	Chunk  int               // of the client, in bytes; 0: what the cluster asks for
	TCP    int               // first port of nodes on 127.0.0.1; 0 for unix sockets
	Keys   bool              // nodes on TCP have keys, and so does the client
	Set    map[string]string // settings of the topology, such as "limits.window": "1MiB"

	Contestants []string // contestants of races, from ContestantNames; empty means all
	DuckDB      string   // the program of bench/rivals/duckdb; empty builds it if its source is available

	prepared map[need]error        // result of finding or building a program: nil, or the reason why it is missing
	rivals   map[need]string       // programs that were built
	versions map[string]string     // of contestants
	starts   func(*exec.Cmd) error // starts a child that reports something; nil: startChild
}

// Defaults of Config.
const (
	DefaultRounds = 5
	DefaultAmount = 128 << 20
)

// DefaultSizes are the frames that are measured.
var DefaultSizes = []int{256, 1 << 10, 64 << 10, 256 << 10, 1 << 20}

type section struct {
	name    string
	measure func(context.Context, *Config) (Section, error)
}

// plainly makes a section whose description does not depend on the results.
func plainly(name, about string, measure func(context.Context, *Config) ([]Case, error)) section {
	return section{name, func(ctx context.Context, c *Config) (Section, error) {
		cases, err := measure(ctx, c)
		return Section{About: about, Cases: cases}, err
	}}
}

func sections() []section {
	all := []section{
		plainly("log", "records appended in group commits of 4 MiB, beside write + fsync of the same bytes in 4 MiB pieces", measureLog),
		{"disk", measureDisk},
		plainly("reopen", reopenAbout, measureReopen),
		plainly("csv", "trips in memory, by CPU time of one core, beside encoding/csv, which finds fields and parses nothing", measureCSV),
		plainly("link", "frames from node to node, durable at both, beside write + fsync of the same bytes in 4 MiB pieces", measureLink),
	}
	all = append(all, plainly("latency", idleAbout, measureIdle))
	all = append(all, plainly("keys", "the same over TCP with keys, over TCP without, and over unix sockets; ratio: the time over TCP "+
		"without keys over the time in this line", measureKeys))
	all = append(all, section{"hosts", measureHosts}, plainly("growth", growthAbout, measureGrowth),
		plainly("answers", answersAbout, measureAnswers), plainly("model", aboutModel, measureModel))
	for _, s := range workloads() {
		about := fmt.Sprintf("analysis %s on a cluster of processes, beside the naive oracle with encoding/csv", s.name())
		all = append(all, plainly(s.name(), about, s.measure))
	}
	all = append(all, section{"sql", measureSQL}, section{"tpch", measureTPCH}, section{"clickbench", measureClickBench},
		section{"h2o", measureH2O}, section{"small", measureSmall})
	for _, s := range workloads() {
		all = append(all, section{raceGroup + "-" + s.name(), s.race})
	}
	return append(all, section{raceGroup + "-hop", measureHop}, section{raceGroup + "-latency", measureLatency},
		section{raceGroup + "-recovery", measureRecovery})
}

// SectionNames returns the names of all sections.
func SectionNames() []string {
	var names []string
	for _, s := range sections() {
		names = append(names, s.name)
	}
	return names
}

// raceGroup names all races together, and is the prefix of their names.
const raceGroup = "race"

func (c *Config) wants(section string) bool {
	group, _, _ := strings.Cut(section, "-")
	return len(c.Sections) == 0 || slices.Contains(c.Sections, section) || slices.Contains(c.Sections, group)
}

// Run measures, prints each section when it is done, and writes the report.
func Run(ctx context.Context, c Config) error {
	for _, name := range c.Sections {
		if !slices.Contains(SectionNames(), name) && name != raceGroup {
			return fmt.Errorf("bench: unknown section %q; the sections are %s", name, strings.Join(SectionNames(), ", "))
		}
	}
	if c.Format == "" {
		c.Format = generated.CSV
	}
	if !slices.Contains(generated.Formats(), c.Format) {
		return fmt.Errorf("bench: unknown format %q; the formats are %s", c.Format, strings.Join(generated.Formats(), ", "))
	}
	if c.Keys && c.TCP == 0 {
		return errors.New("bench: keys are for TCP: name the first port of the nodes, too")
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if c.Profile != "" {
		if err := os.MkdirAll(c.Profile, 0o755); err != nil {
			return fmt.Errorf("bench: a directory for profiles: %w", err)
		}
	}
	r := Report{Date: time.Now(), Commit: commit(), Command: os.Args, Machine: thisMachine(), Rounds: c.Rounds, Cold: c.Cold}
	m := r.Machine
	warmth := ""
	if c.Cold {
		warmth = ", cold"
	}
	fmt.Fprintf(c.Out, "%s, %d cores, %s, %s, load %s, commit %s; medians of %d rounds%s (least–most)\n",
		m.Processor, m.Cores, m.OS, m.Go, m.Load, r.Commit, c.Rounds, warmth)
	for _, s := range sections() {
		if !c.wants(s.name) {
			continue
		}
		done, err := s.measure(ctx, &c)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx) // the errors of children only say that they were ended
		}
		if err != nil {
			return fmt.Errorf("bench %s: %w", s.name, err)
		}
		done.Name = s.name
		if err := done.Print(c.Out); err != nil {
			return fmt.Errorf("bench: print: %w", err)
		}
		r.Sections = append(r.Sections, done)
	}
	r.Versions = c.versions
	if c.Results == "" {
		return nil
	}
	names, err := r.Write(c.Results)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	fmt.Fprintf(c.Out, "\nwritten to %s\n", strings.Join(names, " and "))
	return nil
}
