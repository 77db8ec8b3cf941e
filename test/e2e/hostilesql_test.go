package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"posta.dev/posta/analyses/sql/catalog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/split"
	sqltypes "posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/topology"
)

// hostileStatements are short and ask for much: pairs of rows, items of lists, long texts, slow patterns. t has 1,000 rows, which every
// joiner has whole, and big 20,000.
var hostileStatements = []string{
	"SELECT count(*) FROM big a, big b, big c",
	"SELECT count(*) FROM big a, big b, big c WHERE a.id + b.id + c.id < 0",
	"SELECT a.id FROM big a, big b, big c WHERE a.id + b.id + c.id < 0 LIMIT 1",
	"SELECT count(*) FROM t a, t b, big c",
	"SELECT count(*) FROM t a, t b, t c, big d",
	"SELECT count(*) FROM t a, t b, big c WHERE a.id + b.id + c.id < 0",
	"SELECT sum(a.id * b.id) FROM t a JOIN t b ON a.id <> b.id JOIN big c ON b.id <> c.id",
	"SELECT count(*) FROM t a, t b, t c WHERE a.s || b.s || c.s = 'x'",
	"SELECT max(x) FROM (SELECT a.id + b.id + c.id AS x FROM t a, t b, t c)",
	"SELECT DISTINCT a.g FROM big a, big b, big c",
	"SELECT a.g, count(*) FROM big a, big b, big c GROUP BY 1",
	"SELECT a.id FROM big a, big b, big c ORDER BY a.id, b.id, c.id LIMIT 1",
	"SELECT a.id FROM big a, big b, big c",
	"SELECT count(*) FROM big a LEFT JOIN big b ON a.g = b.g LEFT JOIN big c ON a.g = c.g",
	"SELECT count(*) FROM big a FULL JOIN big b ON a.g = b.g AND a.id + b.id < 0 JOIN big c ON a.g = c.g",
	"SELECT count(*) FROM big a JOIN big b ON repeat('k', 100000) || a.g = repeat('k', 100000) || b.g JOIN big c ON a.g = c.g",
	"SELECT count(*) FROM big a JOIN t b ON repeat(a.s, 10000) = repeat(b.s, 10000)",
	"SELECT repeat('k', 1000000) || g AS k, count(*) FROM big GROUP BY 1",
	"SELECT count(*) FROM (SELECT unnest(string_split(repeat(',', 7999999), ',')) FROM big) x",
	"SELECT count(*) FROM (SELECT unnest(string_split(repeat(',', 1999), ',')) FROM big) x",
	"SELECT count(*) FROM (SELECT unnest(string_split(repeat(',', 9999), ',')) FROM t) x, (SELECT unnest(string_split(repeat(',', 9999), " +
		"',')) FROM t) y",
	"SELECT unnest(string_split(repeat('a,', 3999999), ',')) AS u FROM big ORDER BY 1 LIMIT 2",
	"SELECT list(repeat('x', 100000)) FROM big",
	"SELECT string_agg(repeat('x', 100000), ',') FROM big",
	"SELECT x FROM (SELECT repeat('x', 4000000) AS x, id FROM big) LIMIT 100",
	"SELECT x FROM (SELECT repeat('x', 400000) || id AS x FROM big) ORDER BY 1 DESC LIMIT 100",
	"SELECT DISTINCT repeat('x', 400000) || id FROM big",
	"SELECT count(*) FROM big WHERE regexp_matches(repeat('a', 100000) || id, '(a?){200}b')",
	"SELECT max(regexp_replace(repeat('a', 8000000), 'a*', repeat('\\0', 4000000))) FROM big",
	"SELECT max(length(regexp_replace(repeat('a', 100000) || id, '(a|b)', '\\1\\1', 'g'))) FROM big",
	"SELECT sum(id) OVER (ORDER BY repeat('x', 100000) || id) FROM big",
	"SELECT count(DISTINCT repeat('x', 100000) || id) FROM big",
	"SELECT count(*) FROM big WHERE repeat('ab', 1000000) || id LIKE '%_' || repeat('a', 100000) || '%b'",
}

func hostileTables(t *testing.T) (dir string, tables []catalog.Table) {
	t.Helper()
	dir = t.TempDir()
	for name, rows := range map[string]int{"t": 1000, "big": 20_000} {
		var b strings.Builder
		b.WriteString("id,g,s\n")
		for i := range rows {
			fmt.Fprintf(&b, "%d,g%d,name %d\n", i, i%3, i)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		table := catalog.Table{Name: name, Files: name + ".csv", Columns: []catalog.Column{{Name: "id", Type: sqltypes.Of(sqltypes.BigInt)},
			{Name: "g", Type: sqltypes.Of(sqltypes.Text)}, {Name: "s", Type: sqltypes.Of(sqltypes.Text)}}}
		if name == "t" {
			table.Bytes, table.Rows = int64(b.Len()), int64(rows)
		}
		tables = append(tables, table)
	}
	return dir, tables
}

// refusals are the words with which a statement that asks for too much may fail.
var refusals = regexp.MustCompile(`limits\.memory|limits\.frame|would take too long|has at most|have at most|too large|too many rows|MiB`)

// TestN9_HostileStatementsLeaveOthersTheirTurn: whatever a statement asks for, an ordinary session beside it is answered, and the statement
// is answered, refused in words, or ends when it is cancelled. No node dies or is taken for hung. -long tries all statements, else a fifth
// of them is enough.
func TestN9_HostileStatementsLeaveOthersTheirTurn(t *testing.T) {
	dir, tables := hostileTables(t)
	d := generated(t, 5000)
	c := start(t, topology.Variant{Settings: map[string]string{"limits.memory": "64MiB"}})
	b := c.listen()
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	c.watchMemory(ctx)
	list := hostileStatements
	if !*long {
		list = slices.Clone(list[:0])
		for i := 1; i < len(hostileStatements); i += 5 {
			list = append(list, hostileStatements[i])
		}
	}
	for some := range slices.Chunk(list, 3) {
		var runs []*run
		for _, text := range some {
			plan := clustertest.Encoded(t, &split.Plan{Text: text, Tables: tables})
			runs = append(runs, c.begin(ctx, client.Config{Analysis: split.Name, Plan: plan, Dir: dir, Lanes: 2}))
		}
		d.check(t, c.analyse(ctx, d.dir, nil))
		for i, r := range runs {
			how, cancelled := "runs", error(nil)
			if !r.ended() {
				cancelled = r.c.Cancel(ctx) // it fails, too, if the session ends meanwhile; whatever it says, the run has to end
			}
			<-r.done
			if r.err != nil {
				how = r.err.Error()
			}
			if r.err != nil && !strings.Contains(how, "was cancelled") && (!errors.Is(r.err, protocol.ErrFailed) || !refusals.MatchString(how)) {
				t.Errorf("%s: %v; cancel: %v", some[i], r.err, cancelled)
			}
			t.Logf("%s: %.150s", some[i], how)
		}
	}
	c.shrinks(b)
	cancel()
	c.flatMemory(mostHostile)
	c.noUnexpectedExits()
}

// mostHostile is what a node may take: what evaluation and folding may take of each of three sessions.
const mostHostile = 1500 * mib * memoryFactor
