package sim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"posta.dev/posta/analyses/sql/catalog"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/protocol"
)

// Sessions of SQL. A client sends a statement over the same rows instead of a question to the simulated analysis. The plan travels with the
// session, joiners join and fold, and the reducer computes windows, orders and unions (Q1, Q7). The oracle computes the answer row by row,
// and shares no code with package sql.

// firstSQL: from this seed on, half of all runs have sessions of SQL. It is greater than all seeds that are named anywhere, so that those
// keep their runs.
const firstSQL = 1 << 40

// speaksSQL draws whether a client asks in SQL, from a source of its own.
func (w *world) speaksSQL(client int) (*rand.Rand, bool) {
	r := rand.New(rand.NewPCG(w.Seed, 5000+uint64(client)))
	return r, (w.SQL || w.Seed >= firstSQL && w.Seed%2 == 0) && r.IntN(4) > 0
}

// question is a statement and its meaning.
type question struct {
	name   string
	text   string
	wide   bool // keys of facts reach the reducer
	apart  bool // rows of the two tables do not meet: both tables are streams of facts
	large  bool // neither table is small: aggregators join them
	pass   int  // the statement takes two passes, of which the session is this one; 0: it takes one
	answer func(d *sqlData) [][]any
}

// withGroup gives facts their group: the greatest group of the key, NULL if the key has none.
const withGroup = ` FROM facts AS f LEFT JOIN (SELECT key, max("group") AS g FROM groups GROUP BY key) AS m ON f.key = m.key `

var questions = []question{
	{
		name: "windows over groups",
		text: `SELECT name, n, total, mean, least, sum(n) OVER (ORDER BY name) AS running, rank() OVER (ORDER BY n DESC) AS place FROM (
			SELECT coalesce(g, 'nobody') AS name, count(*) AS n, sum(value) AS total, avg(value) AS mean, min(value) AS least` + withGroup + `WHERE value >= -1.5 GROUP BY 1) ORDER BY name`,
		answer: windowsOverGroups,
	},
	{
		name:   "a join of many to many",
		text:   `SELECT g."group" AS name, count(*) AS n, sum(value) AS total, count(DISTINCT f._line) AS lines FROM facts AS f JOIN groups AS g ON f.key = g.key GROUP BY 1 ORDER BY 1`,
		answer: manyToMany,
	},
	{
		name: "windows over rows", wide: true,
		text: `SELECT f._file AS file, f._line AS line, g, row_number() OVER w AS nth, lag(value) OVER w AS previous` + withGroup +
			`WINDOW w AS (PARTITION BY f.key ORDER BY f._file, f._line) ORDER BY file, line`,
		answer: windowsOverRows,
	},
	{
		name: "the greatest values",
		text: `SELECT f._file AS file, f._line AS line, value, g` + withGroup +
			`WHERE value IS NOT NULL ORDER BY value DESC, f._file, f._line LIMIT 5 OFFSET 1`,
		answer: greatestValues,
	},
	{
		name:   "rows in the order of the files",
		text:   `SELECT f._line AS line, value, g` + withGroup,
		answer: rowsInOrder,
	},
	{
		name:   "the first rows of a join",
		text:   `SELECT f._line AS line, value, g."group" AS name FROM facts AS f JOIN groups AS g ON f.key = g.key LIMIT 60`,
		answer: firstOfJoin,
	},
	{
		name: "a union with groups of the reference rows",
		text: `SELECT coalesce(g, 'nobody') AS name, count(*) AS n, max(value) AS most` + withGroup +
			`GROUP BY 1 UNION ALL SELECT "group", -count(*), NULL FROM groups GROUP BY 1 ORDER BY 1, 2, 3`,
		answer: unionOfGroups,
	},
	{
		name:   "the first of each group",
		text:   `SELECT g, first(value) AS one, last(f._line) AS behind, min_by(f._line, value) AS least` + withGroup + `GROUP BY g ORDER BY g`,
		answer: firstOfEach,
	},
	{
		name: "facts without partners, which parsers fold", apart: true,
		text: `SELECT "group" AS name, -count(*) AS n, NULL AS total, NULL AS least, NULL AS behind, NULL AS lines FROM groups WHERE key IS NOT NULL GROUP BY 1 UNION ALL
			SELECT CASE WHEN value < 0 THEN 'low' WHEN value >= 0 THEN 'high' END, count(*), sum(value), min(value), last(_line), count(DISTINCT _line) FROM facts GROUP BY 1 ORDER BY 1, 2`,
		answer: withoutPartners,
	},
	{
		name: "a join in the aggregators", large: true, wide: true,
		text:   `SELECT g."group" AS name, count(*) AS n, sum(value) AS total FROM groups AS g JOIN facts AS f ON f.key = g.key GROUP BY 1 ORDER BY 1`,
		answer: joinedInAggregators,
	},
	{
		name: "the best of a join in the aggregators", large: true, wide: true,
		text: `SELECT f.key AS key, count(*) AS n, count(g."group") AS named, count(value) AS valued FROM groups AS g RIGHT JOIN facts AS f ON f.key = g.key GROUP BY f.key
			ORDER BY n DESC, key LIMIT 20`,
		answer: bestOfAggregators,
	},
	{
		name: "the mean that WHERE needs", pass: 1,
		text: aboveMean,
		answer: func(d *sqlData) [][]any {
			return [][]any{{passAnswer(d.mean())}}
		},
	},
	{
		name: "facts above the mean", pass: 2,
		text:   aboveMean,
		answer: factsAboveMean,
	},
}

// aboveMean takes two passes, because it reads all facts before it can say which of them count. Both passes read all columns, so they
// reject the same rows.
const aboveMean = `SELECT g AS name, count(*) AS n, sum(value) AS total` + withGroup +
	`WHERE value > (SELECT avg(value) FROM facts AS h JOIN groups AS k ON h.key = k.key WHERE k."group" IS NOT NULL) GROUP BY 1 ORDER BY 1`

// ask makes an upload the upload of a statement. The statement contains nothing that makes a node panic.
func (u *upload) ask(w *world, r *rand.Rand) {
	q := &questions[r.IntN(len(questions))]
	// how much waits depends on the aggregators
	for q.wide && (w.faults.longKeys || w.faults.largeRows > 0) || q.large && (w.layout.memory > 0 || w.faults.sharedMemory > 0) {
		q = &questions[r.IntN(len(questions))]
	}
	w.injected("SQL")
	d := u.read()
	u.analysis, u.plan, u.question, u.params = split.Name, q.plan(q.text, d), q, nil
	u.poison = ""
	if u.members = len(d.groups); q.apart || q.large {
		u.members = 0 // no joiner keeps them
	}
}

// plan returns the plan of a statement over the files of an upload, whose rows are d.
func (q *question) plan(statement string, d *sqlData) []byte {
	size := int64(1000)
	if q.large {
		size = 0 // unknown
	}
	text := func(name string) catalog.Column { return catalog.Column{Name: name, Type: types.Of(types.Text)} }
	p := &split.Plan{Text: statement, Tables: []catalog.Table{
		{Name: streamNames[streamGroups], Files: "*/groups.csv", Bytes: size, Columns: []catalog.Column{text("key"), text("group")}},
		{Name: streamNames[streamFacts], Files: "*/facts.csv", Columns: []catalog.Column{text("key"),
			{Name: "value", Type: types.Of(types.Double)}}},
	}}
	if q.pass == 0 {
		return encoded(p)
	}
	p.Tables[streamFacts].Bytes, p.Tables[streamFacts].Rows = 1<<40, 1<<33
	first := p.NextPass()
	if first == nil {
		panic("sim: a statement takes one pass: " + statement)
	}
	if q.pass == 1 {
		return encoded(first)
	}
	second, err := p.Answered(first, []string{passAnswer(d.mean())})
	if err != nil {
		panic(fmt.Sprintf("sim: the answer of a pass: %v", err))
	}
	return encoded(second)
}

func encoded(p *split.Plan) []byte {
	b, err := p.Encode()
	if err != nil {
		panic(fmt.Sprintf("sim: a plan: %v", err))
	}
	return b
}

// passAnswer returns the answer of a pass, a DOUBLE or NULL, as it travels (analyses/sql/values/codec.go).
func passAnswer(v any) string {
	f, ok := v.(float64)
	if !ok {
		return "02"
	}
	bits := math.Float64bits(f) ^ 1<<63
	if f < 0 {
		bits = ^math.Float64bits(f)
	}
	return fmt.Sprintf("01%016x", bits)
}

// makeOther changes an open request for the upload's session into one that nobody may send: with other parameters, or another statement.
func (u *upload) makeOther(q *protocol.Request) {
	if u.question != nil {
		q.Plan = u.question.plan("SELECT * FROM ("+u.question.text+") LIMIT 1", u.read())
		return
	}
	q.Params = maps.Clone(u.params)
	q.Params["at_least"] = "-2.5"
}

// sqlQuery is the name of a statement without a name. The simulated analysis has no query of this name.
const sqlQuery = "query_1"

// sqlAnswer returns the right answer to the statement.
func (u *upload) sqlAnswer() answer {
	d := u.read()
	out := answer{"rejected": append(d.rejected[streamFacts].text("facts"), d.rejected[streamGroups].text("groups")...)}
	for _, row := range u.question.answer(d) {
		out[sqlQuery] = append(out[sqlQuery], asTexts(row))
	}
	return out
}

// asTexts formats a row in the form of a client's answer. NULL is nil, and formatted as nothing.
func asTexts(row []any) string {
	var cells []string
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			cells = append(cells, "")
		case float64:
			cells = append(cells, floatText(v))
		case int:
			cells = append(cells, strconv.Itoa(v))
		case string:
			cells = append(cells, v)
		default:
			panic(fmt.Sprintf("a cell of type %T", v))
		}
	}
	return strings.Join(cells, " ")
}

// sqlData are the rows of an upload that are not rejected, in the order of files and lines.
type sqlData struct {
	groups   []sqlGroup
	facts    []sqlFact
	rejected [2]rejects
	byKey    map[string]string // the greatest group of each key that has a group
}

type sqlGroup struct{ key, group string } // empty: NULL

type sqlFact struct {
	file  string
	line  int
	key   string
	null  bool // there is no value
	value float64
	g     any // its group: nil or a string
}

// read reads the upload as SQL does: an empty field is NULL; a missing field, or one that is not a number, rejects its row.
func (u *upload) read() *sqlData {
	d := &sqlData{byKey: map[string]string{}}
	for _, f := range u.files[streamGroups] {
		for i, row := range f.rows {
			key, group, two := strings.Cut(row, ",")
			if !two {
				d.rejected[streamGroups].add(f.name, i+2)
				continue
			}
			d.groups = append(d.groups, sqlGroup{key, group})
			if key != "" && group != "" {
				d.byKey[key] = max(d.byKey[key], group)
			}
		}
	}
	for _, f := range u.files[streamFacts] {
		for i, row := range f.rows {
			key, value, two := strings.Cut(row, ",")
			x := sqlFact{file: f.name, line: i + 2, key: key, null: value == ""}
			var err error
			if !x.null {
				x.value, err = strconv.ParseFloat(value, 64)
			}
			if !two || err != nil {
				d.rejected[streamFacts].add(f.name, i+2)
				continue
			}
			if g := d.byKey[key]; g != "" {
				x.g = g
			}
			d.facts = append(d.facts, x)
		}
	}
	return d
}

// total holds the aggregates of some facts.
type total struct {
	n, values   int
	sum         big.Rat
	least, most float64
	lines       map[int]bool
	first       *sqlFact // first row with a value
	last        *sqlFact
	leastOf     *sqlFact // first row with the least value
}

func (t *total) add(x *sqlFact) {
	t.n++
	if t.lines == nil {
		t.lines = map[int]bool{}
	}
	t.lines[x.line] = true
	if t.first == nil {
		t.first = x
	}
	t.last = x
	if x.null {
		return
	}
	if t.values == 0 || x.value < t.least {
		t.least, t.leastOf = x.value, x
	}
	if t.values == 0 || x.value > t.most {
		t.most = x.value
	}
	t.values++
	t.sum.Add(&t.sum, new(big.Rat).SetFloat64(x.value))
}

// orNull returns NULL for a group without a value.
func (t *total) orNull(v float64) any {
	if t.values == 0 {
		return nil
	}
	return v
}

func (t *total) rounded() any {
	sum, _ := t.sum.Float64()
	return t.orNull(sum)
}

// totals returns the aggregates of facts by a name, which is nil or a string, and the names in order, NULL last.
func totals(facts []sqlFact, name func(*sqlFact) any) (map[any]*total, []any) {
	all := map[any]*total{}
	for i := range facts {
		x := &facts[i]
		n := name(x)
		if all[n] == nil {
			all[n] = &total{}
		}
		all[n].add(x)
	}
	return all, inOrder(all)
}

func inOrder(all map[any]*total) (names []any) {
	for n := range all {
		names = append(names, n)
	}
	slices.SortFunc(names, nullsLast)
	return names
}

func nullsLast(a, b any) int {
	x, text := a.(string)
	y, also := b.(string)
	switch {
	case text && also:
		return strings.Compare(x, y)
	case text:
		return -1
	case also:
		return 1
	}
	return 0
}

func orNobody(x *sqlFact) any {
	if x.g == nil {
		return noGroup
	}
	return x.g
}

func windowsOverGroups(d *sqlData) (rows [][]any) {
	kept := slices.DeleteFunc(slices.Clone(d.facts), func(x sqlFact) bool { return x.null || x.value < -1.5 })
	all, names := totals(kept, orNobody)
	running := 0
	for _, name := range names {
		t := all[name]
		running += t.n
		place := 1
		for _, o := range all {
			if o.n > t.n {
				place++
			}
		}
		mean, _ := new(big.Rat).Quo(&t.sum, big.NewRat(int64(t.values), 1)).Float64()
		rows = append(rows, []any{name, t.n, t.rounded(), mean, t.least, running, place})
	}
	return rows
}

// mean returns the mean of the values of facts, each as often as its key has a group, as SQL's avg does: rounded once. Without values it is
// NULL.
func (d *sqlData) mean() any {
	partners := map[string]int64{}
	for _, g := range d.groups {
		if g.key != "" && g.group != "" {
			partners[g.key]++
		}
	}
	var sum big.Rat
	n := int64(0)
	for i := range d.facts {
		if x := &d.facts[i]; !x.null && partners[x.key] > 0 {
			n += partners[x.key]
			v := new(big.Rat).SetFloat64(x.value)
			sum.Add(&sum, v.Mul(v, big.NewRat(partners[x.key], 1)))
		}
	}
	if n == 0 {
		return nil
	}
	mean, _ := sum.Quo(&sum, big.NewRat(n, 1)).Float64()
	return mean
}

func factsAboveMean(d *sqlData) (rows [][]any) {
	mean, some := d.mean().(float64)
	kept := slices.DeleteFunc(slices.Clone(d.facts), func(x sqlFact) bool { return x.null || !some || x.value <= mean })
	all, names := totals(kept, func(x *sqlFact) any { return x.g })
	for _, name := range names {
		rows = append(rows, []any{name, all[name].n, all[name].rounded()})
	}
	return rows
}

// joinedInAggregators returns the rows of manyToMany without the lines.
func joinedInAggregators(d *sqlData) (rows [][]any) {
	for _, row := range manyToMany(d) {
		rows = append(rows, row[:3])
	}
	return rows
}

func bestOfAggregators(d *sqlData) (rows [][]any) {
	partners, named := map[string]int{}, map[string]int{}
	for _, g := range d.groups {
		if g.key == "" {
			continue
		}
		if partners[g.key]++; g.group != "" {
			named[g.key]++
		}
	}
	facts, valued := map[string]int{}, map[string]int{}
	for i := range d.facts {
		x := &d.facts[i]
		if facts[x.key]++; !x.null {
			valued[x.key]++
		}
	}
	for key, n := range facts {
		name := any(key)
		if key == "" {
			name = nil
		}
		rows = append(rows, []any{name, n * max(1, partners[key]), n * named[key], valued[key] * max(1, partners[key])})
	}
	slices.SortFunc(rows, func(a, b []any) int {
		if c := cmp.Compare(b[1].(int), a[1].(int)); c != 0 {
			return c
		}
		switch {
		case a[0] == nil:
			return 1
		case b[0] == nil:
			return -1
		}
		return cmp.Compare(a[0].(string), b[0].(string))
	})
	return rows[:min(20, len(rows))]
}

func manyToMany(d *sqlData) (rows [][]any) {
	all := map[any]*total{}
	for _, g := range d.groups {
		if g.key == "" {
			continue
		}
		var name any
		if g.group != "" {
			name = g.group
		}
		for i := range d.facts {
			if x := &d.facts[i]; x.key == g.key {
				if all[name] == nil {
					all[name] = &total{}
				}
				all[name].add(x)
			}
		}
	}
	for _, name := range inOrder(all) {
		t := all[name]
		rows = append(rows, []any{name, t.n, t.rounded(), len(t.lines)})
	}
	return rows
}

func windowsOverRows(d *sqlData) (rows [][]any) {
	before := map[string][]*sqlFact{}
	for i := range d.facts {
		x := &d.facts[i]
		var previous any
		if b := before[x.key]; len(b) > 0 && !b[len(b)-1].null {
			previous = b[len(b)-1].value
		}
		before[x.key] = append(before[x.key], x)
		rows = append(rows, []any{x.file, x.line, x.g, len(before[x.key]), previous})
	}
	return rows
}

func greatestValues(d *sqlData) (rows [][]any) {
	kept := slices.DeleteFunc(slices.Clone(d.facts), func(x sqlFact) bool { return x.null })
	slices.SortStableFunc(kept, func(a, b sqlFact) int { return cmp.Compare(b.value, a.value) })
	for i, x := range kept {
		if i >= 1 && i <= 5 {
			rows = append(rows, []any{x.file, x.line, x.value, x.g})
		}
	}
	return rows
}

func rowsInOrder(d *sqlData) (rows [][]any) {
	for _, x := range d.facts {
		value := any(x.value)
		if x.null {
			value = nil
		}
		rows = append(rows, []any{x.line, value, x.g})
	}
	return rows
}

func firstOfJoin(d *sqlData) (rows [][]any) {
	for _, x := range d.facts {
		for _, g := range d.groups {
			if g.key != x.key || g.key == "" || len(rows) == 60 {
				continue
			}
			value, name := any(x.value), any(g.group)
			if x.null {
				value = nil
			}
			if g.group == "" {
				name = nil
			}
			rows = append(rows, []any{x.line, value, name})
		}
	}
	return rows
}

func unionOfGroups(d *sqlData) (rows [][]any) {
	all, names := totals(d.facts, orNobody)
	for _, name := range names {
		t := all[name]
		rows = append(rows, []any{name, t.n, t.orNull(t.most)})
	}
	members := map[any]int{}
	for _, g := range d.groups {
		var name any
		if g.group != "" {
			name = g.group
		}
		members[name]++
	}
	for name, n := range members {
		rows = append(rows, []any{name, -n, nil})
	}
	slices.SortFunc(rows, func(a, b []any) int { return cmp.Or(nullsLast(a[0], b[0]), cmp.Compare(a[1].(int), b[1].(int))) })
	return rows
}

func firstOfEach(d *sqlData) (rows [][]any) {
	all, names := totals(d.facts, func(x *sqlFact) any { return x.g })
	for _, name := range names {
		t := all[name]
		var one, least any
		if !t.first.null {
			one = t.first.value
		}
		if t.leastOf != nil {
			least = t.leastOf.line
		}
		rows = append(rows, []any{name, one, t.last.line, least})
	}
	return rows
}

func withoutPartners(d *sqlData) (rows [][]any) {
	all, names := totals(d.facts, func(x *sqlFact) any {
		switch {
		case x.null:
			return nil
		case x.value < 0:
			return "low"
		}
		return "high"
	})
	for _, name := range names {
		t := all[name]
		rows = append(rows, []any{name, t.n, t.rounded(), t.orNull(t.least), t.last.line, len(t.lines)})
	}
	members := map[any]int{}
	for _, g := range d.groups {
		if g.key == "" {
			continue
		}
		var name any
		if g.group != "" {
			name = g.group
		}
		members[name]++
	}
	for name, n := range members {
		rows = append(rows, []any{name, -n, nil, nil, nil, nil})
	}
	slices.SortFunc(rows, func(a, b []any) int { return cmp.Or(nullsLast(a[0], b[0]), cmp.Compare(a[1].(int), b[1].(int))) })
	return rows
}
