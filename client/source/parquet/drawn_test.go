package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/catalog"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"posta.dev/posta/analyses/sql/types"
)

// drawn is a table of random values, as a CSV file and as a Parquet file. Another implementation of the format writes the one, and the
// package strconv the texts of the other.
type drawn struct {
	table        catalog.Table
	csv, parquet []byte
	texts        [][]string // of some values, by column; for constants of statements
	about        string
}

// drawnKind is a type of columns. Values of a number n are in the order of n, so that row groups can have ranges apart from each other.
type drawnKind struct {
	name      string
	node      pq.Node
	encodings []encoding.Encoding
	types     []types.Type // as which statements declare it
	value     func(n int64) (pq.Value, string)
	odd       func(r *rand.Rand) (pq.Value, string) // a value out of the usual: extremes, and what is not a value of its type; nil: none
}

func drawnInt(v int64) (pq.Value, string) { return pq.Int64Value(v), strconv.FormatInt(v, 10) }

func drawnText(s string) (pq.Value, string) { return pq.ByteArrayValue([]byte(s)), s }

func drawnDouble(v float64) (pq.Value, string) {
	return pq.DoubleValue(v), strconv.FormatFloat(v, 'g', -1, 64)
}

// drawnMoment returns a time in units of which a second has so many. Its text has the digits that it needs.
func drawnMoment(perSecond int64) func(v int64) (pq.Value, string) {
	return func(v int64) (pq.Value, string) {
		seconds := v / perSecond
		if v%perSecond < 0 {
			seconds--
		}
		at := time.Unix(seconds, (v-seconds*perSecond)*(1e9/perSecond)).UTC()
		return pq.Int64Value(v), at.Format("2006-01-02 15:04:05.999999999")
	}
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var (
	integers = []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.DeltaBinaryPacked}
	anyText  = []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.DeltaLengthByteArray, &pq.DeltaByteArray}

	drawnKinds = []drawnKind{
		{"int64", pq.Int(64), integers, []types.Type{types.Of(types.BigInt), types.Of(types.Double)}, drawnInt,
			func(r *rand.Rand) (pq.Value, string) {
				return drawnInt(one(r, 0, -1, 1, math.MaxInt64, math.MinInt64, math.MaxInt32+1, r.Int64(), -r.Int64()))
			}},
		{"int32", pq.Leaf(pq.Int32Type), integers, []types.Type{types.Of(types.BigInt), types.DecimalOf(12, 2)},
			func(n int64) (pq.Value, string) {
				return pq.Int32Value(int32(n)), strconv.FormatInt(n, 10)
			}, func(r *rand.Rand) (pq.Value, string) {
				v := one(r, int32(math.MaxInt32), math.MinInt32, int32(r.Uint32()))
				return pq.Int32Value(v), strconv.FormatInt(int64(v), 10)
			}},
		{"uint32", pq.Uint(32), integers, []types.Type{types.Of(types.BigInt)}, func(n int64) (pq.Value, string) {
			v := uint32(n + math.MaxInt32) // half of them are negative where the sign is not known
			return pq.Int32Value(int32(v)), strconv.FormatUint(uint64(v), 10)
		}, nil},
		{"uint64", pq.Uint(64), []encoding.Encoding{&pq.Plain}, []types.Type{types.Of(types.BigInt), types.Of(types.Double)},
			func(n int64) (pq.Value, string) {
				v := uint64(n + 1<<40)
				return pq.Int64Value(int64(v)), strconv.FormatUint(v, 10)
			}, func(r *rand.Rand) (pq.Value, string) { // too large for a BIGINT
				v := math.MaxUint64 - r.Uint64N(9)
				return pq.Int64Value(int64(v)), strconv.FormatUint(v, 10)
			}},
		{"double", pq.Leaf(pq.DoubleType), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.ByteStreamSplit},
			[]types.Type{types.Of(types.Double)}, func(n int64) (pq.Value, string) {
				return drawnDouble(float64(n) / 8)
			}, func(r *rand.Rand) (pq.Value, string) {
				return drawnDouble(one(r, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.MaxFloat64, math.SmallestNonzeroFloat64,
					r.NormFloat64()*1e300))
			}},
		{"float", pq.Leaf(pq.FloatType), []encoding.Encoding{&pq.Plain, &pq.RLEDictionary, &pq.ByteStreamSplit},
			[]types.Type{types.Of(types.Double)}, func(n int64) (pq.Value, string) {
				return pq.FloatValue(float32(n) / 10), strconv.FormatFloat(float64(float32(n)/10), 'g', -1, 32)
			}, func(r *rand.Rand) (pq.Value, string) {
				v := one(r, float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32, float32(math.Copysign(0, -1)))
				return pq.FloatValue(v), strconv.FormatFloat(float64(v), 'g', -1, 32)
			}},
		{"decimal", pq.Decimal(2, 9, pq.Int32Type), []encoding.Encoding{&pq.Plain, &pq.DeltaBinaryPacked},
			[]types.Type{types.DecimalOf(9, 2), types.DecimalOf(6, 1), types.Of(types.Double)},
			func(n int64) (pq.Value, string) {
				sign := ""
				if n < 0 {
					sign = "-"
				}
				return pq.Int32Value(int32(n)), fmt.Sprintf("%s%d.%02d", sign, max(n, -n)/100, max(n, -n)%100)
			}, nil},
		{"long decimal", pq.Decimal(0, 38, pq.FixedLenByteArrayType(16)), []encoding.Encoding{&pq.Plain},
			[]types.Type{types.DecimalOf(18, 0), types.Of(types.Double)}, func(n int64) (pq.Value, string) {
				b := make([]byte, 16)
				for i := range b {
					b[i] = byte(n >> 63)
				}
				for i := range 8 {
					b[15-i] = byte(n >> (8 * i))
				}
				return pq.FixedLenByteArrayValue(b), strconv.FormatInt(n, 10)
			}, nil},
		{"date", pq.Date(), integers, []types.Type{types.Of(types.Date), types.Of(types.Timestamp)}, func(n int64) (pq.Value, string) {
			return pq.Int32Value(int32(n)), time.Unix(n*86400, 0).UTC().Format("2006-01-02")
		}, func(r *rand.Rand) (pq.Value, string) {
			n := one(r, int64(2932896), -719162) // the years 9999 and 1
			return pq.Int32Value(int32(n)), time.Unix(n*86400, 0).UTC().Format("2006-01-02")
		}},
		{"milliseconds", pq.Timestamp(pq.Millisecond), integers, []types.Type{types.Of(types.Timestamp)},
			func(n int64) (pq.Value, string) { return drawnMoment(1e3)(n * 250) }, nil},
		{"microseconds", pq.Timestamp(pq.Microsecond), integers, []types.Type{types.Of(types.Timestamp)},
			func(n int64) (pq.Value, string) { return drawnMoment(1e6)(n * 500_001) }, func(r *rand.Rand) (pq.Value, string) {
				return drawnMoment(1e6)(one(r, int64(253402300799_999999), -62135596800_000000))
			}},
		{"nanoseconds", pq.Timestamp(pq.Nanosecond), []encoding.Encoding{&pq.Plain}, []types.Type{types.Of(types.Timestamp)},
			func(n int64) (pq.Value, string) { return drawnMoment(1e9)(n * 700_000_001) }, func(r *rand.Rand) (pq.Value, string) {
				return drawnMoment(1e9)(one(r, int64(math.MaxInt64), math.MinInt64))
			}},
		{"bool", pq.Leaf(pq.BooleanType), []encoding.Encoding{&pq.Plain, &pq.RLE}, []types.Type{types.Of(types.Bool), types.Of(types.Text)},
			func(n int64) (pq.Value, string) {
				return pq.BooleanValue(n%2 == 0), strconv.FormatBool(n%2 == 0)
			}, nil},
		{"text", pq.String(), anyText, []types.Type{types.Of(types.Text)},
			func(n int64) (pq.Value, string) { return drawnText(fmt.Sprintf("w%06d", n+500_000)) }, func(r *rand.Rand) (pq.Value, string) {
				return drawnText(one(r, "", "", "é, \"🌍\"", " ", "\x1emark", "\xff", strings.Repeat("long ", r.IntN(900)),
					strings.Repeat("é", r.IntN(99))))
			}},
		{"empty text", pq.String(), anyText, []types.Type{types.Of(types.Text)}, func(int64) (pq.Value, string) { return drawnText("") }, nil},
		{"text of numbers", pq.String(), anyText, []types.Type{types.Of(types.BigInt), types.Of(types.Double), types.Of(types.Text)},
			func(n int64) (pq.Value, string) {
				return drawnText(strconv.FormatInt(n, 10))
			}, func(r *rand.Rand) (pq.Value, string) {
				return drawnText(one(r, "", "none", "1.5", " 7", "9223372036854775808"))
			}},
		{"text of dates", pq.String(), anyText, []types.Type{types.Of(types.Date)}, func(n int64) (pq.Value, string) {
			return drawnText(time.Unix(n*86400, 0).UTC().Format("2006-01-02"))
		}, func(r *rand.Rand) (pq.Value, string) { return drawnText(one(r, "", "never", "2024-02-30")) }},
	}
)

// drawnColumn is a column of a table, and how its values are drawn.
type drawnColumn struct {
	*drawnKind
	column   catalog.Column
	node     pq.Node
	optional bool
	span     int64  // how many values a row may have
	rising   int    // after so many rows values are larger than before; 0: never
	odds     int    // one value in so many is odd
	nulls    string // which rows are NULL
}

// drawnColumns draws the columns of a table. Either all of them may have NULLs or none.
func drawnColumns(r *rand.Rand, n int) []drawnColumn {
	optional := r.IntN(4) > 0
	all := make([]drawnColumn, n)
	for i := range all {
		k := &drawnKinds[r.IntN(len(drawnKinds))]
		c := drawnColumn{drawnKind: k, column: catalog.Column{Name: fmt.Sprintf("c%04d", i), Type: one(r, k.types...)}, optional: optional,
			span: one(r, int64(3), 20, 1000), rising: one(r, 0, 7, 60), odds: one(r, 0, 0, 3, 40), nulls: "none"}
		c.node = pq.Compressed(pq.Encoded(k.node, one(r, k.encodings...)), one(r, codecs...))
		if optional {
			c.node, c.nulls = pq.Optional(c.node), one(r, "none", "some", "some", "groups", "all")
		}
		all[i] = c
	}
	return all
}

func (c *drawnColumn) draw(r *rand.Rand, row, perGroup int) (v pq.Value, text string, null bool) {
	switch c.nulls {
	case "some":
		null = r.IntN(5) == 0
	case "groups":
		null = row/perGroup%2 == 0
	case "all":
		null = true
	}
	if null {
		return pq.NullValue(), "", true
	}
	if c.odd != nil && c.odds > 0 && r.IntN(c.odds) == 0 {
		v, text = c.odd(r)
		return v, text, false
	}
	n := r.Int64N(c.span) - c.span/2
	if c.rising > 0 {
		n += int64(row/c.rising-3) * c.span
	}
	v, text = c.value(n)
	return v, text, false
}

// drawTable makes a table of so many rows.
func drawTable(r *rand.Rand, name string, columns []drawnColumn, rows int, options ...pq.WriterOption) *drawn {
	d := &drawn{table: catalog.Table{Name: name, Files: name + ".csv"}, texts: make([][]string, len(columns))}
	perGroup := one(r, 1, 7, 60, 1+rows)
	if rows > 300 {
		perGroup = max(perGroup, 30)
	}
	version := 2
	if !columns[0].optional {
		version = 1 + r.IntN(2) // that writer writes levels of NULLs into pages of version 1 that do not belong there
	}
	group := pq.Group{}
	var text strings.Builder
	for i := range columns {
		c := &columns[i]
		group[c.column.Name] = c.node
		d.table.Columns = append(d.table.Columns, c.column)
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(c.column.Name)
		if len(columns) < 50 {
			d.about += fmt.Sprintf("%s: %s as %s, span %d, rising %d, odds %d, NULL: %s\n", c.column.Name, c.name, c.column.Type, c.span, c.rising,
				c.odds, c.nulls)
		}
	}
	text.WriteByte('\n')
	d.about += fmt.Sprintf("%d rows, %d in a row group, pages of version %d", rows, perGroup, version)
	var out []pq.Row
	for row := range rows {
		values := make(pq.Row, len(columns))
		for i := range columns {
			c := &columns[i]
			v, s, null := c.draw(r, row, perGroup)
			level := 0
			if c.optional && !null {
				level = 1
			}
			if values[i] = v.Level(0, level, i); i > 0 {
				text.WriteByte(',')
			}
			switch {
			case null:
				continue
			case c.node.Type().Kind() == pq.ByteArray:
				text.WriteString(`"` + strings.ReplaceAll(s, `"`, `""`) + `"`)
			default:
				text.WriteString(s)
			}
			if len(d.texts[i]) < 20 || r.IntN(20) == 0 {
				d.texts[i] = append(d.texts[i], s)
			}
		}
		text.WriteByte('\n')
		out = append(out, values)
	}
	d.csv = []byte(text.String())
	if more := rand.New(rand.NewPCG(uint64(len(d.csv)), 1)); more.IntN(2) == 0 {
		var filters []pq.BloomFilterColumn
		for i := range columns {
			if columns[i].node.Type().Kind() != pq.Boolean && more.IntN(3) > 0 {
				filters = append(filters, pq.SplitBlockFilter(uint(1+more.IntN(12)), columns[i].column.Name))
			}
		}
		options = append(options, pq.BloomFilters(filters...))
	}
	var b bytes.Buffer
	w := pq.NewWriter(&b, append(options, pq.NewSchema(name, group), pq.PageBufferSize(2<<10), pq.MaxRowsPerRowGroup(int64(perGroup)),
		pq.DataPageVersion(version))...)
	_, err := w.WriteRows(out)
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	d.parquet = b.Bytes()
	return d
}
