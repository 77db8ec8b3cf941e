package cmd

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	parquet "github.com/parquet-go/parquet-go"

	"posta.dev/posta/cmd/internal/exit"
)

// TestSQLReadsOnlyRowGroupsThatMayCount: the test damages the other row groups, and only a statement that needs them fails. The line
// numbers of the remaining rows stay the same.
func TestSQLReadsOnlyRowGroupsThatMayCount(t *testing.T) {
	const groups, perGroup = 6, 1000
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("rows", parquet.Group{"day": parquet.Date(), "n": parquet.Optional(parquet.Int(64)),
		"word": parquet.String()}), parquet.MaxRowsPerRowGroup(perGroup))
	first := int32(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	for i := range groups * perGroup {
		row := parquet.Row{parquet.Int32Value(first+int32(i/perGroup)).Level(0, 0, 0), parquet.Int64Value(int64(i)).Level(0, 1, 1),
			parquet.ByteArrayValue([]byte(fmt.Sprint("w", i/perGroup))).Level(0, 0, 2)}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []int{0, 2, 5} {
		for _, c := range f.Metadata().RowGroups[damaged].Columns {
			from := c.MetaData.DataPageOffset
			clear(file[from : from+c.MetaData.TotalCompressedSize])
		}
	}
	dir := table(t, "t.parquet", string(file))
	declared := "CREATE TABLE d FROM 't.parquet' (day DATE, n BIGINT, word TEXT); "
	for _, c := range [][2]string{
		{"SELECT count(*) AS n, sum(n) AS s, min(_line) AS a, max(_line) AS z FROM d WHERE day >= DATE '2024-01-04' AND day < DATE '2024-01-06'",
			"n,s,a,z\n2000,7999000,3002,5001\n"},
		{"SELECT count(*) AS n FROM d WHERE word = 'nowhere'", "n\n0\n"},
	} {
		if r := posta(t, "sql", "--csv", "--data", dir, declared+c[0]); r.code != 0 || r.out != c[1] || strings.Contains(r.err, "no rows") {
			t.Errorf("%s: exit code %d, %q\n%s", c[0], r.code, r.out, r.err)
		}
	}
	both := filepath.Join(t.TempDir(), "both.sql")
	text := declared + "SELECT count(*) AS n FROM d WHERE n > 1000 AND word = 'w1'; SELECT max(n) AS m FROM d WHERE n BETWEEN 3000 AND 3500;"
	if err := os.WriteFile(both, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := posta(t, "sql", "--json", "--data", dir, "-f", both); r.code != 0 || !strings.Contains(r.out, "[999]") ||
		!strings.Contains(r.out, "[3500]") {
		t.Errorf("two statements: exit code %d, %q\n%s", r.code, r.out, r.err)
	}
	for _, needs := range []string{"n > 1000", "day = DATE '2024-01-02' OR n = 2"} {
		if r := posta(t, "sql", "--csv", "--data", dir, declared+"SELECT count(*) FROM d WHERE "+needs); r.code == 0 ||
			!strings.Contains(r.err, "row group") {
			t.Errorf("%s needs what is damaged: exit code %d, %q\n%s", needs, r.code, r.out, r.err)
		}
	}
}

// TestSQLReadsTheValuesOfTypedFiles: values are exact, and one that its type does not hold is an error and not another value.
func TestSQLReadsTheValuesOfTypedFiles(t *testing.T) {
	var b bytes.Buffer
	group := parquet.Group{"big": parquet.Uint(64), "day": parquet.Date(), "none": parquet.Optional(parquet.Leaf(parquet.DoubleType)),
		"p": parquet.Decimal(2, 18, parquet.Int64Type), "x": parquet.Leaf(parquet.DoubleType)}
	w := parquet.NewWriter(&b, parquet.NewSchema("rows", group))
	for i, x := range []float64{1, math.NaN(), math.Inf(-1)} {
		row := parquet.Row{parquet.Int64Value(-int64(i)).Level(0, 0, 0), parquet.Int32Value(int32(5e6*(i-1))).Level(0, 0, 1),
			parquet.Value{}.Level(0, 0, 2),
			parquet.Int64Value(999999999999999999-int64(i)).Level(0, 0, 3), parquet.DoubleValue(x).Level(0, 0, 4)}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := table(t, "t.parquet", b.String())
	const want = "p,x,day,s\n9999999999999999.99,1.0,11721-06-19 " +
		"(BC),\n9999999999999999.98,NaN,1970-01-01,\n9999999999999999.97,-Inf,15659-07-15,\n"
	if r := posta(t, "sql", "--csv", "--data", dir, "SELECT p, x, day, sum(none) OVER () AS s FROM t ORDER BY p DESC"); r.code != 0 ||
		r.out != want {
		t.Errorf("exit code %d, %q, want %q\n%s", r.code, r.out, want, r.err)
	}
	if r := posta(t, "sql", "--csv", "--data", dir, "SELECT max(big) FROM t"); r.code != exit.Session || r.out != "" ||
		!strings.Contains(r.err, `column "big" of table "t" has the value "18446744073709551615", which a BIGINT does not hold`) {
		t.Errorf("exit code %d, %q\n%s", r.code, r.out, r.err)
	}
}
