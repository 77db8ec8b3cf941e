package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Hits makes hits.csv, the table of the benchmark ClickBench: 105 columns about the pages that people looked at in July 2013, about 700
// bytes per row. The original is the traffic of a real web site, and this is not: only names and types of columns are the same, and what
// the 43 statements of the benchmark depend on. How many different users, URLs, search phrases, … there are grows as a power of the
// number of rows, so 100 million rows have as many as the original: 17.6 million users, 18.3 million URLs, 6 million search phrases. Few
// of them are frequent. Rows are in parts of a million, each ordered by counter and day, as the original's storage orders them. Texts are
// quoted, and the empty text is "".
func Hits(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate hits: %w", errRows)
	}
	return writeFiles(dir, file{"hits.csv", func(flush flusher) []byte {
		b := firstLine("hits", "hits")
		for g := newHits(rows, seed); g.row < g.rows; {
			g.next()
			b = flush(g.append(b))
		}
		return b
	}})
}

// The values that the statements of the benchmark name, and the number of the user, URL, referer and counter that have them.
const (
	knownUser, knownUserID         = 777, 435090932899640449
	knownURL, knownURLHash         = 0, 2868770270353813622
	knownReferer, knownRefererHash = 0, 3594120000172545465
	knownCounter, knownCounterID   = 5, 62
)

const (
	hitsBlock = 256     // rows; the numbers of different values are computed for whole blocks, and are linear within
	hitsPart  = 1 << 20 // rows that are ordered
)

// hits makes one row after the other.
type hits struct {
	rows, row int
	seed      uint64
	random    *rand.PCG
	cal       *calendar
	latin     *[1024]string
	cyrillic  *[1024]string
	columns   []hitsColumn

	users, urls, referers, phrases entities
	hit
}

// hit is a row.
type hit struct {
	// The visit to which the row belongs.
	user                  uint64
	counter, region       int64
	day, second           int
	of                    [4]uint64 // random bits that depend on the user alone
	url, referer, phrase  uint64
	hasReferer, hasPhrase bool
	bits                  [4]uint64 // random bits of the row
}

// entities are the different values of a column, numbered in the order in which they occur first.
type entities struct {
	part  float64 // of all rows have a value
	power float64 // n rows with a value have n to this power different ones
	skew  int     // the probability of the kth is proportional to k^(1/skew-1)

	known, before, due uint64 // so far; at the start and at the end of the block
}

func newHits(rows int, seed uint64) *hits {
	g := &hits{rows: rows, seed: seed, random: rand.NewPCG(seed, 0), cal: newCalendar(2013, 2013), columns: hitsColumns()}
	g.latin = hitsWords(seed, "ba be bi bo ka ko la le li lo ma mi mo na ne no ra re ri ro sa so ta te to va vi zo")
	g.cyrillic = hitsWords(seed, "ба бе би бо ва ви го да до ка ко ла ли ло ма ме мо на но ра ре ро са со та те то ча")
	g.users = entities{part: 1, power: 0.9057, skew: 2}
	g.urls = entities{part: 1, power: 0.9078, skew: 5}
	g.referers = entities{part: hitsReferers / 65_536.0, power: 0.9228, skew: 4}
	g.phrases = entities{part: hitsPhrases / 65_536.0, power: 0.9528, skew: 3}
	return g
}

// How many rows of 65,536 have a referer, and a search phrase.
const (
	hitsReferers = 53_084
	hitsPhrases  = 8_631
)

// hitsWords makes words of two to five of the syllables, all different.
func hitsWords(seed uint64, syllables string) *[1024]string {
	r, all, seen, from := rand.New(rand.NewPCG(seed, 1)), new([1024]string), map[string]bool{}, strings.Fields(syllables)
	for i := range all {
		for all[i] == "" || seen[all[i]] {
			all[i] = ""
			for range 2 + r.IntN(4) {
				all[i] += from[r.IntN(len(from))]
			}
		}
		seen[all[i]] = true
	}
	return all
}

// plan computes how many values there are after the block that begins.
func (e *entities) plan(row int) {
	e.before = max(e.known, e.due)
	e.due = uint64(math.Pow(float64(row+hitsBlock)*e.part, e.power))
}

// take returns a new value if there are too few, or else a known one.
func (e *entities) take(row int, random uint64) uint64 {
	if want := e.before + (e.due-min(e.before, e.due))*uint64(row%hitsBlock+1)/hitsBlock; e.known < max(1, want) {
		e.known++
		return e.known - 1
	}
	return skewed(e.known, random>>32, e.skew) >> 32
}

// skewed returns n times a fraction to the power of skew. Fractions have 32 bits.
func skewed(n, fraction uint64, skew int) uint64 {
	f := fraction
	for range skew - 1 {
		f = f * fraction >> 32
	}
	return n * f
}

// scattered returns bits that look random, different for each v.
func scattered(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// next draws the next row.
func (g *hits) next() {
	if g.row%hitsBlock == 0 {
		for _, e := range []*entities{&g.users, &g.urls, &g.referers, &g.phrases} {
			e.plan(g.row)
		}
	}
	for i := range g.bits {
		g.bits[i] = g.random.Uint64()
	}
	known := g.users.known
	user := g.users.take(g.row, g.random.Uint64())
	if more := g.bits[0]&3 != 0; user == known || !more || g.row%hitsPart == 0 {
		g.visit(user)
	} else {
		g.second = min(g.second+int(g.bits[0]>>2&63), 86_399)
	}
	g.url = g.urls.take(g.row, g.random.Uint64())
	if g.hasReferer = g.bits[1]&0xffff < hitsReferers; g.hasReferer {
		g.referer = g.referers.take(g.row, g.random.Uint64())
	}
	if g.hasPhrase = g.bits[1]>>16&0xffff < hitsPhrases; g.hasPhrase {
		g.phrase = g.phrases.take(g.row, g.random.Uint64())
	}
	g.row++
}

// visit begins the visit of a user: to the counter and on the day that the order of the part asks for.
func (g *hits) visit(user uint64) {
	g.user = user
	begin := g.row &^ (hitsPart - 1)
	length := min(hitsPart, g.rows-begin)
	counters := uint64(math.Pow(float64(begin+length), 0.4767)) // 6,506 of 100 million rows
	place := skewed(max(1, counters), uint64(g.row-begin)<<32/uint64(length), 4)
	g.counter = counterID(int64(place >> 32))
	const july = 181
	g.day = july + int(place&(1<<32-1)*31>>32)
	g.second = int((g.bits[3]>>32 + g.bits[3]&0xffffffff) * 43_200 >> 32) // most of them around noon
	for i := range g.of {
		g.of[i] = scattered(g.seed + 4*user + uint64(i))
	}
	regions := uint64(math.Pow(float64(user+1), 0.546)) + 1 // 9,040 of 17.6 million users
	g.region = 1 + int64(skewed(regions, g.of[3]>>32, 5)>>32)
}

// counterID returns the number that a counter has: numbers grow, with gaps.
func counterID(place int64) int64 {
	if place <= knownCounter {
		return knownCounterID - 11*(knownCounter-place)
	}
	return knownCounterID + 37*(place-knownCounter) + int64(scattered(uint64(place))%37)
}

// append appends a line of CSV.
func (g *hits) append(b []byte) []byte {
	for i := range g.columns {
		c := &g.columns[i]
		quoted := c.typ == "TEXT"
		if quoted {
			b = append(b, '"')
		}
		switch {
		case c.number != nil:
			b = strconv.AppendInt(b, c.number(g), 10)
		case c.text != nil:
			b = c.text(g, b)
		}
		if quoted {
			b = append(b, '"')
		}
		b = append(b, ',')
	}
	b[len(b)-1] = '\n'
	return b
}
