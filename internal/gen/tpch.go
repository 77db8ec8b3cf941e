package gen

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// TPCH makes the eight tables of the decision support benchmark TPC-H with rows rows of lineitem, its largest. Schema, keys, distributions
// and texts are as its specification describes them, but made by our own code, so the data differs from that of its generator. 6,000,000
// rows are scale 1, about 750 MB. All other tables have the size of that scale. Each file has a header, dates are written as 1995-06-17,
// and texts that may contain a comma are quoted.
func TPCH(dir Dir, rows int, seed uint64) error {
	if rows < 0 {
		return fmt.Errorf("generate tpch: %w", errRows)
	}
	g := newTPCH(rows, seed)
	return writeFiles(dir,
		file{"region.csv", g.regions}, file{"nation.csv", g.nationRows}, file{"supplier.csv", g.suppliers}, file{"part.csv", g.partRows},
		file{"partsupp.csv", g.partsupp}, file{"customer.csv", g.customers}, file{"orders.csv", g.orders}, file{"lineitem.csv", g.lineitem})
}

// tpch holds the sizes of the tables. Every row draws from its own random numbers, so a table can be made without the others.
type tpch struct {
	rows, supplier, part, customer, clerks int
	seed                                   uint64
	text                                   string // comments are cut from this text
	cal                                    *calendar
}

const (
	tpchCurrent = 1263 // 1995-06-17, from 1992-01-01 on
	tpchLast    = 2405 // the last day of an order: 151 days before 1998-12-31
)

func newTPCH(rows int, seed uint64) *tpch {
	at := func(n int) int { return max(1, int(int64(rows)*int64(n)/6_000_000)) }
	g := &tpch{rows: rows, supplier: max(4, at(10_000)), part: max(4, at(200_000)), customer: max(3, at(150_000)), clerks: at(1000),
		seed: seed, cal: newCalendar(1992, 1999)}
	g.text = tpchText(rand.New(rand.NewPCG(seed, 1<<60)), 1<<20)
	return g
}

// of returns the random numbers of a row of a table.
func (g *tpch) of(table, row int) *rand.Rand {
	return rand.New(rand.NewPCG(g.seed, uint64(table)<<48|uint64(row)))
}

func (g *tpch) regions(flusher) []byte {
	b := firstLine("tpch", "region")
	for i, name := range tpchRegions {
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(append(append(b, ','), name...), ',')
		b = append(g.comment(b, g.of(0, i), 31, 115), '\n')
	}
	return b
}

func (g *tpch) nationRows(flusher) []byte {
	b := firstLine("tpch", "nation")
	for i, n := range tpchNations {
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(append(append(b, ','), n.name...), ',', byte('0'+n.region), ',')
		b = append(g.comment(b, g.of(1, i), 31, 114), '\n')
	}
	return b
}

func (g *tpch) suppliers(flush flusher) []byte {
	b := firstLine("tpch", "supplier")
	for i := 1; i <= g.supplier; i++ {
		r := g.of(2, i)
		b = strconv.AppendInt(b, int64(i), 10)
		b = numbered(append(b, ",Supplier#"...), i)
		b = g.party(append(b, ','), r)
		b = append(b, ',')
		// Five of 10,000 suppliers have complaints, and five have recommendations.
		words := ""
		switch i % 2000 {
		case 47:
			words = "Customer slyly Complaints"
		case 1013:
			words = "Customer carefully Recommends"
		}
		from := len(b)
		if b = g.comment(b, r, 25, 100); words != "" {
			at := r.IntN(len(b) - from - 1)
			b = append(append(append(b[:from:from], b[from:from+1+at]...), words...), b[from+1+at:]...)
		}
		b = flush(append(b, '\n'))
	}
	return b
}

// party returns what suppliers and customers have in common: address, nation, phone and balance.
func (g *tpch) party(b []byte, r *rand.Rand) []byte {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	b = append(b, '"')
	for range 10 + r.IntN(31) {
		b = append(b, letters[r.IntN(len(letters))])
	}
	nation := r.IntN(25)
	b = strconv.AppendInt(append(b, "\","...), int64(nation), 10)
	b = strconv.AppendInt(append(b, ','), int64(10+nation), 10)
	for _, size := range []int{900, 900, 9000} {
		b = strconv.AppendInt(append(b, '-'), int64(size/9+r.IntN(size)), 10)
	}
	return cents(append(b, ','), -99_999+r.IntN(1_099_999))
}

func (g *tpch) customers(flush flusher) []byte {
	b := firstLine("tpch", "customer")
	for i := 1; i <= g.customer; i++ {
		r := g.of(3, i)
		b = strconv.AppendInt(b, int64(i), 10)
		b = numbered(append(b, ",Customer#"...), i)
		b = g.party(append(b, ','), r)
		b = append(append(append(b, ','), tpchSegments[r.IntN(5)]...), ',')
		b = flush(append(g.comment(b, r, 29, 116), '\n'))
	}
	return b
}

func (g *tpch) partRows(flush flusher) []byte {
	b := firstLine("tpch", "part")
	for i := 1; i <= g.part; i++ {
		r := g.of(4, i)
		b = append(strconv.AppendInt(b, int64(i), 10), ',')
		for k, c := range r.Perm(len(tpchColours))[:5] {
			if k > 0 {
				b = append(b, ' ')
			}
			b = append(b, tpchColours[c]...)
		}
		m := byte('1' + r.IntN(5))
		b = append(append(b, ",Manufacturer#"...), m)
		b = append(append(b, ",Brand#"...), m, byte('1'+r.IntN(5)), ',')
		b = append(append(b, tpchTypes[0][r.IntN(6)]...), ' ')
		b = append(append(b, tpchTypes[1][r.IntN(5)]...), ' ')
		b = append(append(b, tpchTypes[2][r.IntN(5)]...), ',')
		b = append(strconv.AppendInt(b, int64(1+r.IntN(50)), 10), ',')
		b = append(append(b, tpchContainers[0][r.IntN(5)]...), ' ')
		b = append(append(b, tpchContainers[1][r.IntN(8)]...), ',')
		b = append(cents(b, retail(i)), ',')
		b = flush(append(g.comment(b, r, 5, 22), '\n'))
	}
	return b
}

// retail is the price of a part, in cents.
func retail(part int) int { return 90_000 + part/10%20_001 + 100*(part%1000) }

// supplierOf returns the kth of the four suppliers of a part.
func (g *tpch) supplierOf(part, k int) int {
	return (part+k*(g.supplier/4+(part-1)/g.supplier))%g.supplier + 1
}

func (g *tpch) partsupp(flush flusher) []byte {
	b := firstLine("tpch", "partsupp")
	for i := 1; i <= g.part; i++ {
		r := g.of(5, i)
		for k := range 4 {
			b = append(strconv.AppendInt(b, int64(i), 10), ',')
			b = append(strconv.AppendInt(b, int64(g.supplierOf(i, k)), 10), ',')
			b = append(strconv.AppendInt(b, int64(1+r.IntN(9999)), 10), ',')
			b = append(cents(b, 100+r.IntN(99_901)), ',')
			b = flush(append(g.comment(b, r, 49, 198), '\n'))
		}
	}
	return b
}

// order is a row of orders with its rows of lineitem.
type order struct {
	r                   *rand.Rand
	key, customer, date int
	lines               []line
}

type line struct {
	part, supplier, quantity, price, discount, tax int
	ship, commit, receipt                          int
}

// order draws the nth order. left is how many rows of lineitem are still needed.
func (g *tpch) order(n, left int) *order {
	r := g.of(6, n)
	o := &order{r: r, key: n/8*32 + n%8 + 1, date: r.IntN(tpchLast + 1)}
	for o.customer = 1 + r.IntN(g.customer); o.customer%3 == 0; { // a third of all customers have no orders
		o.customer = 1 + r.IntN(g.customer)
	}
	for range min(left, 1+r.IntN(7)) {
		l := line{part: 1 + r.IntN(g.part), quantity: 1 + r.IntN(50), discount: r.IntN(11), tax: r.IntN(9)}
		l.supplier, l.price = g.supplierOf(l.part, r.IntN(4)), l.quantity*retail(l.part)
		l.ship, l.commit = o.date+1+r.IntN(121), o.date+30+r.IntN(61)
		l.receipt = l.ship + 1 + r.IntN(30)
		o.lines = append(o.lines, l)
	}
	return o
}

func (g *tpch) orders(flush flusher) []byte {
	b := firstLine("tpch", "orders")
	for n, left := 0, g.rows; left > 0; n++ {
		o := g.order(n, left)
		left -= len(o.lines)
		total, open := 0, 0
		for _, l := range o.lines {
			total += (l.price*(100-l.discount)*(100+l.tax) + 5000) / 10_000
			if l.ship > tpchCurrent {
				open++
			}
		}
		status := byte('P')
		switch open {
		case 0:
			status = 'F'
		case len(o.lines):
			status = 'O'
		}
		b = append(strconv.AppendInt(b, int64(o.key), 10), ',')
		b = append(strconv.AppendInt(b, int64(o.customer), 10), ',', status, ',')
		b = append(append(cents(b, total), ','), g.cal.day(o.date)...)
		b = append(append(b, ','), tpchPriorities[o.r.IntN(5)]...)
		b = append(numbered(append(b, ",Clerk#"...), 1+o.r.IntN(g.clerks)), ",0,"...)
		b = flush(append(g.comment(b, o.r, 19, 78), '\n'))
	}
	return b
}

func (g *tpch) lineitem(flush flusher) []byte {
	b := firstLine("tpch", "lineitem")
	for n, left := 0, g.rows; left > 0; n++ {
		o := g.order(n, left)
		left -= len(o.lines)
		for i, l := range o.lines {
			for _, v := range []int{o.key, l.part, l.supplier, i + 1, l.quantity} {
				b = append(strconv.AppendInt(b, int64(v), 10), ',')
			}
			b = cents(b, l.price)
			b = append(cents(append(b, ','), l.discount), ',')
			b = append(cents(b, l.tax), ',')
			returned, status := byte('N'), byte('F')
			if l.receipt <= tpchCurrent {
				returned = "RA"[o.r.IntN(2)]
			}
			if l.ship > tpchCurrent {
				status = 'O'
			}
			b = append(b, returned, ',', status)
			for _, day := range []int{l.ship, l.commit, l.receipt} {
				b = append(append(b, ','), g.cal.day(day)...)
			}
			b = append(append(b, ','), tpchInstructions[o.r.IntN(4)]...)
			b = append(append(append(b, ','), tpchModes[o.r.IntN(7)]...), ',')
			b = flush(append(g.comment(b, o.r, 10, 43), '\n'))
		}
	}
	return b
}

// comment appends a text of least to most letters, in quotes.
func (g *tpch) comment(b []byte, r *rand.Rand, least, most int) []byte {
	n := least + r.IntN(most-least+1)
	at := r.IntN(len(g.text) - n)
	return append(append(append(b, '"'), g.text[at:at+n]...), '"')
}

// numbered appends a number of nine digits.
func numbered(b []byte, n int) []byte { return padded(b, n, 9) }

// cents appends an amount with two digits after the point.
func cents(b []byte, n int) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, int64(n/100), 10)
	return append(b, '.', byte('0'+n/10%10), byte('0'+n%10))
}
