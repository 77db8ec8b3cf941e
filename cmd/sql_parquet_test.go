package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// TestSQLReadsOnlyRowGroupsThatMayCount: the test damages the other row groups, and only a statement that needs them fails. The line numbers of the
// remaining rows stay the same.
func TestSQLReadsOnlyRowGroupsThatMayCount(t *testing.T) {
	const groups, perGroup = 6, 1000
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("rows", parquet.Group{"day": parquet.Date(), "n": parquet.Optional(parquet.Int(64)), "word": parquet.String()}), parquet.MaxRowsPerRowGroup(perGroup))
	first := int32(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	for i := range groups * perGroup {
		row := parquet.Row{parquet.Int32Value(first+int32(i/perGroup)).Level(0, 0, 0), parquet.Int64Value(int64(i)).Level(0, 1, 1), parquet.ByteArrayValue([]byte(fmt.Sprint("w", i/perGroup))).Level(0, 0, 2)}
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
		{"SELECT count(*) AS n, sum(n) AS s, min(_line) AS a, max(_line) AS z FROM d WHERE day >= DATE '2024-01-04' AND day < DATE '2024-01-06'", "n,s,a,z\n2000,7999000,3002,5001\n"},
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
	if r := posta(t, "sql", "--json", "--data", dir, "-f", both); r.code != 0 || !strings.Contains(r.out, "[999]") || !strings.Contains(r.out, "[3500]") {
		t.Errorf("two statements: exit code %d, %q\n%s", r.code, r.out, r.err)
	}
	for _, needs := range []string{"n > 1000", "day = DATE '2024-01-02' OR n = 2"} {
		if r := posta(t, "sql", "--csv", "--data", dir, declared+"SELECT count(*) FROM d WHERE "+needs); r.code == 0 || !strings.Contains(r.err, "row group") {
			t.Errorf("%s needs what is damaged: exit code %d, %q\n%s", needs, r.code, r.out, r.err)
		}
	}
}
