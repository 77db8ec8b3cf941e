package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/client/core"
	"posta.dev/posta/client/resume"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/simulator/eventqueue"
)

// upload is what one client sends, and the right answer.
type upload struct {
	analysis string
	plan     []byte // for a statement: its question; nil for the simulated analysis
	question *question

	params  map[string]string
	files   [2][]file // by stream
	poison  string    // the value that makes the analysis panic; empty for none
	room    int       // largest number of bytes of records in a request: limits.frame without the rest of a chunk (R15)
	large   int       // bytes of the largest row
	members int       // number of reference rows
}

type file struct {
	name   string
	header string
	rows   []string // without line ends; the first is line 2
}

// piece is a chunk of a file: some of its rows.
type piece struct {
	file *file
	line uint64
	from uint64 // bytes of the file's rows before it
	data []byte
}

// newUpload draws an upload.
func newUpload(w *world) *upload {
	u := &upload{analysis: "simulated", params: map[string]string{}}
	if w.Chance(0.3) {
		u.params["at_least"] = "-1.5"
	}
	pad := ""
	if w.faults.longKeys {
		pad = strings.Repeat("y", 2000)
	}
	towns := 1 + w.Rand.IntN(2)
	keys, groups := 1+w.Rand.IntN(30), 1+w.Rand.IntN(8)
	for t := range towns {
		u.files[streamGroups] = append(u.files[streamGroups], groupFile(w, t, 1+w.Rand.IntN(40), keys, groups, pad))
		u.files[streamFacts] = append(u.files[streamFacts], factFile(w, t, w.Rand.IntN(250), keys, pad))
	}
	u.room = w.layout.frame - requestHead
	for range w.faults.largeRows {
		u.enlarge(w)
	}
	if w.faults.poison && w.Chance(0.5) {
		u.poisonWith(w, eventqueue.OneOf(w.Queue, poisonParse, poisonJoin, poisonReduce))
	}
	u.count()
	return u
}

func groupFile(w *world, town, rows, keys, groups int, pad string) file {
	f := file{name: fmt.Sprintf("town%d/groups.csv", town), header: "key,group"}
	for range rows {
		row := fmt.Sprintf("k%d%s,g%d", w.Rand.IntN(keys), pad, w.Rand.IntN(groups))
		if w.Chance(0.03) {
			row = eventqueue.OneOf(w.Queue, "k1,", ",g1", "k1")
		}
		f.rows = append(f.rows, row)
	}
	return f
}

func factFile(w *world, town, rows, keys int, pad string) file {
	f := file{name: fmt.Sprintf("town%d/facts.csv", town), header: "key,value"}
	for range rows {
		row := fmt.Sprintf("k%d%s,%s", w.Rand.IntN(keys+2), pad, strconv.FormatFloat(awkwardNumber(w), 'g', -1, 64))
		if w.Chance(0.03) {
			row = eventqueue.OneOf(w.Queue, "k1,twelve", "k1,", "k1")
		}
		f.rows = append(f.rows, row)
	}
	return f
}

// awkwardNumber draws numbers whose sum, rounded at each step, depends on the order.
func awkwardNumber(w *world) float64 {
	switch w.Rand.IntN(4) {
	case 0:
		return float64(w.Rand.IntN(100))
	case 1:
		return math.Ldexp(w.Rand.Float64()-0.5, w.Rand.IntN(120)-60)
	case 2:
		return eventqueue.OneOf(w.Queue, 1e16, -1e16, 0.1, -0.1, 3.0e-9)
	}
	return w.Rand.NormFloat64()
}

func (u *upload) poisonWith(w *world, what string) {
	u.poison = what
	if what == poisonReduce {
		u.params["explode"] = poisonReduce
		// The reducer panics on the first group.
		f := &u.files[streamFacts][0]
		f.rows = append(f.rows, "k1,17")
		return
	}
	stream, row := streamFacts, "k1,"+poisonParse
	if what == poisonJoin {
		row = poisonJoin + ",12"
		stream = w.Rand.IntN(2)
	}
	f := &u.files[stream][w.Rand.IntN(len(u.files[stream]))]
	f.rows = slices.Insert(f.rows, w.Rand.IntN(len(f.rows)+1), row)
}

// count tells the analysis how many rows to expect. So a joiner or reducer that continues too early is noticed at once.
func (u *upload) count() {
	members, facts := 0, 0
	for _, row := range u.oracle()["members"] {
		members += number(row)
	}
	for _, row := range u.oracle()["totals"] {
		facts += number(row)
	}
	u.members = members
	u.params["members"], u.params["rows"] = strconv.Itoa(members), strconv.Itoa(facts)
}

// number returns the second word of a row.
func number(row string) int {
	n, _ := strconv.Atoi(strings.Fields(row)[1])
	return n
}

// referenceBytes returns an upper bound of what a joiner counts for the upload's reference data: each chunk may be a batch
// of its own, with names besides the rows.
func (u *upload) referenceBytes() (n int) {
	for _, f := range u.files[streamGroups] {
		n += length(f.rows) + 300*len(f.rows)
	}
	return n
}

// requestHead is the room that a client leaves in a request for everything but the records.
const requestHead = 250

// enlarge adds a row that is about as large as limits.frame: sometimes too large for a request, sometimes for a batch.
func (u *upload) enlarge(w *world) {
	w.injected("large row")
	stream := w.Rand.IntN(2)
	f := &u.files[stream][w.Rand.IntN(len(u.files[stream]))]
	rest := ",1.5"
	if stream == streamGroups {
		rest = ",g1"
	}
	size := u.room + requestHead - 20 - len(rest) - w.Rand.IntN(eventqueue.OneOf(w.Queue, 1, 300, 2000, w.layout.frame/2))
	row := "large" + strings.Repeat("z", size-len("large")) + rest
	f.rows = slices.Insert(f.rows, w.Rand.IntN(len(f.rows)+1), row)
	u.large = max(u.large, len(row))
}

// pieces cuts the files of a stream into chunks and mixes them, since lanes pull them in no fixed order.
//
// In a resumed upload, pieces leaves out what was taken, and compares it while it cuts (R17).
func (u *upload) pieces(w *world, stream int, taken *resume.Taken) (all []piece, err error) {
	most := 1 + w.Rand.IntN(40)
	for i := range u.files[stream] {
		f := &u.files[stream][i]
		rest := taken.File(streamNames[stream], f.name)
		if err := rest.Header([]byte(f.header)); err != nil {
			return nil, err
		}
		for at := 0; at < len(f.rows); {
			n := min(1+w.Rand.IntN(most), len(f.rows)-at)
			room, was := rest.Next(u.room)
			for n > 1 && length(f.rows[at:at+n]) > room {
				n--
			}
			data, from := strings.Join(f.rows[at:at+n], "\n")+"\n", rest.At()
			if err := rest.Cut([]byte(data), was); err != nil {
				return nil, err
			}
			if !was {
				all = append(all, piece{f, uint64(at + 2), from, []byte(data)})
			}
			at += n
		}
		if err := rest.End(); err != nil {
			return nil, err
		}
	}
	if w.Chance(0.5) {
		w.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all, nil
}

// length returns the size of rows with their line ends.
func length(rows []string) (n int) {
	for _, r := range rows {
		n += len(r) + 1
	}
	return n
}

// answer is a client's answer, or the right one: each query's rows as text, and the rejected rows.
type answer map[string][]string

// oracle computes the answer in the plainest way there is, with rationals (D2).
func (u *upload) oracle() answer {
	if u.question != nil {
		return u.sqlAnswer()
	}
	out := answer{"members": nil, "totals": nil, "peaks": nil, "keys": nil, "sizes": nil}
	groups, members := map[string]string{}, map[string]int{}
	var rejected [2]rejects
	for _, f := range u.files[streamGroups] {
		for i, row := range f.rows {
			cells := strings.Split(row, ",")
			if len(cells) != 2 || cells[0] == "" || cells[1] == "" {
				rejected[streamGroups].add(f.name, i+2)
				continue
			}
			groups[cells[0]] = cells[1]
			members[cells[1]]++
		}
	}
	least, _ := strconv.ParseFloat(u.params["at_least"], 64)
	if u.params["at_least"] == "" {
		least = -1e300
	}
	sums, counts, peaks := map[string]*big.Rat{}, map[string]int{}, map[string]string{}
	sizes := map[string]map[int]int{}
	for _, f := range u.files[streamFacts] {
		for i, row := range f.rows {
			key, value, two := strings.Cut(row, ",")
			v, err := strconv.ParseFloat(value, 64)
			if !two || err != nil {
				rejected[streamFacts].add(f.name, i+2)
				continue
			}
			if v < least {
				continue
			}
			group, ok := groups[key]
			if !ok {
				group = noGroup
			}
			if sums[group] == nil {
				sums[group], sizes[group] = new(big.Rat), map[int]int{}
			}
			sums[group].Add(sums[group], new(big.Rat).SetFloat64(v))
			counts[group]++
			peaks[group] = max(peaks[group], key+key)
			out["keys"] = append(out["keys"], fmt.Sprintf("%s %d", group, len(key)))
			sizes[group][len(key)]++
		}
	}
	for g, n := range members {
		out["members"] = append(out["members"], fmt.Sprintf("%s %d", g, n))
	}
	for g, n := range counts {
		sum, _ := sums[g].Float64()
		mean, _ := new(big.Rat).Quo(sums[g], big.NewRat(int64(n), 1)).Float64()
		out["totals"] = append(out["totals"], fmt.Sprintf("%s %d %s %s", g, n, floatText(sum), floatText(mean)))
		out["peaks"] = append(out["peaks"], g+" "+peaks[g])
		for size, n := range sizes[g] {
			out["sizes"] = append(out["sizes"], fmt.Sprintf("%s %d %d", g, size, n))
		}
	}
	for _, rows := range out {
		slices.SortFunc(rows, byGroupAndNumber)
	}
	out["rejected"] = append(rejected[streamFacts].text("facts"), rejected[streamGroups].text("groups")...)
	return out
}

// byGroupAndNumber returns the order of rows that begin with a group, and of those of one group, if there are several, by the number after
// it.
func byGroupAndNumber(a, b string) int {
	x, y := strings.Fields(a), strings.Fields(b)
	if c := strings.Compare(x[0], y[0]); c != 0 {
		return c
	}
	return cmp.Compare(number(a), number(b))
}

// rejects returns the rows of a stream that cannot be parsed (N7).
type rejects struct {
	rows  int
	first []string
}

func (r *rejects) add(name string, line int) {
	r.rows++
	if len(r.first) < 10 {
		r.first = append(r.first, fmt.Sprintf("%s:%d", name, line))
	}
}

func (r *rejects) text(stream string) []string {
	if r.rows == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s %d %v", stream, r.rows, r.first)}
}

// floatText shows every bit. -0 and 0 are the same sum.
func floatText(v float64) string { return strconv.FormatFloat(v+0, 'x', -1, 64) }

// streamNames are the analysis's streams, by their index.
var streamNames = [...]string{streamGroups: "groups", streamFacts: "facts"}

// add adds rows of an answer.
func (a answer) add(p *core.Rows) {
	for row := range p.Rows.All() {
		var cells []string
		for _, c := range row {
			if c.Kind == protocol.Float {
				cells = append(cells, floatText(c.Float))
			} else {
				cells = append(cells, c.String())
			}
		}
		a[p.Query] = append(a[p.Query], strings.Join(cells, " "))
	}
	for _, r := range p.Rejected {
		x := rejects{rows: int(r.Rows)}
		for _, f := range r.First {
			x.first = append(x.first, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
		a["rejected"] = append(a["rejected"], x.text(r.Stream)...)
	}
}

// differs returns how an answer is wrong, "" if it is right.
func (a answer) differs(want answer) string {
	slices.Sort(a["rejected"])
	for _, q := range []string{"members", "totals", "peaks", "keys", "sizes", sqlQuery, "rejected"} {
		if !slices.Equal(a[q], want[q]) {
			return fmt.Sprintf("%s\n  got:  %q\n  want: %q", q, a[q], want[q])
		}
	}
	return ""
}
