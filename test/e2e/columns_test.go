package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	formats "posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/query"
	"posta.dev/posta/topology"
)

// asked is a statement of a benchmark. Its number is counted from 1 on.
type asked struct {
	data   string // what package gen makes
	number int
	text   string
}

// inShort are the statements that the ordinary tests ask, by data: one for each kind of columns, groups, orders and joins.
var inShort = map[string][]int{"hits": {3, 6, 14, 19, 24, 29, 43}, "tpch": {1, 4, 13, 18}}

// benchmarks returns the statements of ClickBench and TPC-H: all of them with -long.
func benchmarks(t *testing.T) (all []asked) {
	t.Helper()
	for _, from := range [][2]string{{"hits", "../../bench/clickbench.sql"}, {"tpch", "../../examples/sql/tpch.sql"}} {
		data, file := from[0], from[1]
		b, err := os.ReadFile(filepath.FromSlash(file))
		if err != nil {
			t.Fatal(err)
		}
		script, err := syntax.Parse(string(b))
		if err != nil {
			t.Fatal(err)
		}
		wanted, n := map[int]bool{}, 0
		for _, k := range inShort[data] {
			wanted[k] = true
		}
		for _, s := range script.Statements {
			if q, ok := s.Node.(*syntax.Query); ok {
				if n++; *long || wanted[n] {
					all = append(all, asked{data, n, syntax.Print(&syntax.Script{Statements: []syntax.Statement{{Node: q}}})})
				}
			}
		}
		if want := map[string]int{"hits": 43, "tpch": 22}[data]; n != want {
			t.Fatalf("%s has %d statements, not %d", file, n, want)
		}
	}
	return all
}

// tables makes the tables of both benchmarks in a format, each below a directory of its own, and returns the declarations of their types.
func tables(t *testing.T, root, format string) (declared map[string]string) {
	t.Helper()
	declared = map[string]string{}
	rows := map[string]int{"hits": 1500, "tpch": 2500}
	if *long {
		rows = map[string]int{"hits": 20_000, "tpch": 40_000}
	}
	for data, generate := range map[string]func(gen.Dir, int, uint64) error{"hits": gen.Hits, "tpch": gen.TPCH} {
		dir, err := formats.In(format, gen.OnDisk(filepath.Join(root, format, data)), data)
		if err == nil {
			err = generate(dir, rows[data], 11)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range gen.Schema(data) {
			if format == formats.Parquet {
				continue
			}
			var columns []string
			for _, c := range table.Columns {
				columns = append(columns, c.Name+" "+c.Type)
			}
			declared[data] += fmt.Sprintf("CREATE TABLE %s FROM '%[1]s.%s' (%s);\n", table.File, format, strings.Join(columns, ", "))
		}
	}
	return declared
}

// answersOf asks all statements, and returns the bytes of their answers.
func answersOf(t *testing.T, all []asked, root, format string, declared map[string]string, change func(*query.Config)) (texts []string) {
	t.Helper()
	open := map[string]*query.DB{}
	for _, a := range all {
		db := open[a.data]
		if db == nil {
			cfg := query.Local(filepath.Join(root, format, a.data))
			change(&cfg)
			var err error
			if db, err = query.Open(t.Context(), cfg); err != nil {
				t.Fatal(err)
			}
			open[a.data] = db
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
		}
		text, err := bytesOf(deadline(t), db, declared[a.data]+a.text)
		if err != nil {
			t.Fatalf("%s %d of %s: %v", a.data, a.number, format, err)
		}
		texts = append(texts, text)
	}
	return texts
}

// bytesOf returns an answer with the types of its values. A double has all of its digits.
func bytesOf(ctx context.Context, db *query.DB, text string) (string, error) {
	rows, err := db.Query(ctx, text)
	if err != nil {
		return "", err
	}
	var b []byte
	for rows.Next() {
		for i := range rows.Columns() {
			b = append(fmt.Appendf(b, "%T %[1]v", rows.Value(i)), '\t')
		}
		b = append(b, '\n')
	}
	return string(b), errors.Join(rows.Err(), rows.Close())
}

// killer kills a node whenever a session begins, and another one whenever there is progress, until it has killed enough. So it kills in the
// midst of statements, however long these take.
type killer struct {
	c    *cluster
	mu   sync.Mutex
	r    *rand.Rand
	left int

	moved bool // a node had files beside its log
}

func (k *killer) kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range k.c.ids() {
		k.moved = k.moved || len(k.c.besideLog(id)) > 0
	}
	if k.left > 0 {
		k.left--
		ids := k.c.ids()
		k.c.signal(ids[k.r.IntN(len(ids))], syscall.SIGKILL)
	}
}

// TestC1_ColumnsAnswerTheSameBits: each statement of ClickBench and TPC-H has the same answer, to the last bit, in this process and in
// clusters of 1, 2 and 5 replicas, in chunks from 64 KiB to 8 MiB, of CSV, JSON Lines and Parquet, while nodes are killed, and where most
// tables move to files.
func TestC1_ColumnsAnswerTheSameBits(t *testing.T) {
	beside(t)
	all, root := benchmarks(t), t.TempDir()
	declared := map[string]map[string]string{}
	for _, format := range formats.Formats() {
		declared[format] = tables(t, root, format)
	}
	want := answersOf(t, all, root, formats.CSV, declared[formats.CSV], func(*query.Config) {})
	empty := 0
	for _, text := range want {
		if text == "" {
			empty++
		}
	}
	if empty > len(all)/3 {
		t.Fatalf("%d of %d answers have no rows, so they show nothing", empty, len(all))
	}
	same := func(t *testing.T, format string, change func(*query.Config)) {
		t.Helper()
		for i, got := range answersOf(t, all, root, format, declared[format], change) {
			if got != want[i] {
				t.Errorf("%s %d of %s:\n%.2000s\nin place of\n%.2000s", all[i].data, all[i].number, format, got, want[i])
			}
		}
	}
	for format, chunk := range map[string]int{formats.Parquet: 64 << 10, formats.JSONL: 1 << 20} {
		t.Run("here, "+format, func(t *testing.T) { same(t, format, func(cfg *query.Config) { cfg.Session.Chunk = chunk }) })
	}
	kills := 6
	if *long {
		kills = 60
	}
	tight := map[string]string{"limits.tables": "1MiB", "limits.memory": "2MiB", "limits.segment": "1MiB", "limits.snapshot": "1MiB"}
	for i, v := range []struct {
		replicas, chunk int
		format          string
		settings        map[string]string
	}{{1, 8 << 20, formats.Parquet, nil}, {2, 64 << 10, formats.CSV, nil}, {5, 256 << 10, formats.Parquet, nil},
		{5, 8 << 20, formats.CSV, nil}, {2, 1 << 20, formats.JSONL, nil}, {2, 64 << 10, formats.Parquet, tight},
		{1, 1 << 20, formats.CSV, tight}} {
		if i > 1 && !*long {
			break
		}
		name := fmt.Sprintf("%d replicas, %s in chunks of %d KiB", v.replicas, v.format, v.chunk>>10)
		if v.settings != nil {
			name += ", in little memory"
		}
		t.Run(name, func(t *testing.T) {
			replicas := map[string]int{}
			for _, stage := range []string{"input", "joiner", "aggregator", "reducer", "output"} {
				replicas[stage] = v.replicas
			}
			c := start(t, topology.Variant{Replicas: replicas, Roots: []string{root}, Settings: v.settings})
			k := &killer{c: c, r: rand.New(rand.NewPCG(uint64(i), 1)), left: kills}
			same(t, v.format, func(cfg *query.Config) {
				cfg.Session.Chunk = v.chunk
				cfg.Reach = func(context.Context) (query.Entrance, error) {
					return query.Entrance{Entries: c.topo.EntryPoints()}, nil
				}
				cfg.Watch = query.Watch{Doing: func(string) { k.kill() }, Progress: func(client.Progress) { k.kill() }}
			})
			c.noUnexpectedExits()
			if k.left > 0 { // each statement is a session
				t.Errorf("%d nodes were not killed", k.left)
			}
			if v.settings != nil && !k.moved {
				t.Error("nothing has moved to files")
			}
			c.nothingBeside(name)
		})
	}
}
