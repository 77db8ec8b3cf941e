package question

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/protocol"
)

// ascending returns a Parquet file whose row groups have the numbers of its rows, k, and some texts.
func ascending(t *testing.T, rows, texts int) string {
	t.Helper()
	names, of := []string{"k"}, []types.Type{types.Of(types.BigInt)}
	for i := range texts {
		names, of = append(names, fmt.Sprint("s", i)), append(of, types.Of(types.Text))
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, names, of)
	w.Group = 16 << 10
	for k := range rows {
		row := []protocol.Value{{Kind: protocol.Int, Int: int64(k)}}
		for range texts {
			row = append(row, protocol.Value{Kind: protocol.Text, Text: "the same"})
		}
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t *testing.T, dir, text string) *Question {
	t.Helper()
	in := client.NewInput(dir, nil, nil, 0)
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	q, err := Read(context.Background(), Config{Text: text, Input: in, Now: time.Now})
	if err != nil {
		t.Fatal(text, err)
	}
	return q
}

// TestReads_CountsOnlyRowGroupsThatAreRead: row groups that WHERE excludes do not count. What several statements read counts once.
func TestReads_CountsOnlyRowGroupsThatAreRead(t *testing.T) {
	dir := files(t, map[string]string{"t.parquet": ascending(t, 4000, 1), "empty.parquet": ascending(t, 0, 1), "u.csv": "k\n1\n"})
	reads := func(text string) int64 {
		t.Helper()
		bytes, known := read(t, dir, text).Reads(t.Context())
		if !known {
			t.Fatal(text, "is not known")
		}
		return bytes
	}
	whole := reads("SELECT max(s0), max(k) FROM t WHERE k + 0 >= 0")
	sum := int64(0)
	for _, part := range []string{"k < 700", "k >= 700 AND k < 1400", "k BETWEEN 1400 AND 2100", "k > 2100"} {
		some := reads("SELECT max(s0), max(k) FROM t WHERE " + part)
		if some <= 0 || some >= whole {
			t.Errorf("%s reads %d of %d bytes", part, some, whole)
		}
		sum += some
	}
	if sum < whole || sum > 2*whole {
		t.Errorf("the parts read %d bytes, and all of it has %d", sum, whole)
	}
	one := reads("SELECT max(s0) FROM t WHERE k = 5")
	for text, want := range map[string]int64{
		"SELECT max(s0) FROM t WHERE k = -1":                                              0,
		"SELECT max(s0) FROM t WHERE k IS NULL":                                           0,
		"SELECT max(s0) FROM t WHERE k = 5 AND s0 = 'other'":                              0,
		"SELECT max(s0) FROM t WHERE k = 5; SELECT min(s0) FROM t WHERE k = 6":            2 * one,
		"SELECT max(s0) FROM t WHERE k = 5; SELECT min(s0) FROM t WHERE k >= 0":           whole,
		"SELECT max(s0) FROM t WHERE k = 5; SELECT max(k) + sum(length(s0)) FROM t":       whole,
		"SELECT max(s0) FROM t, (SELECT max(k) AS m FROM t WHERE k < 9) x WHERE k = m":    whole,
		"SELECT max(s0) FROM empty WHERE k = 5":                                           0,
		"SELECT max(t.s0) FROM t JOIN u ON t.k = u.k WHERE t.k = 5":                       one + 4,
		"SELECT max(s0) FROM t WHERE k = 5 UNION ALL SELECT max(s0) FROM t WHERE k = 900": whole,
	} {
		if got := reads(text); got != want {
			t.Errorf("%s reads %d bytes, want %d", text, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "v.parquet"), []byte(ascending(t, 1, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	q := read(t, dir, "SELECT max(s0) FROM v WHERE k = -1")
	if err := os.WriteFile(filepath.Join(dir, "v.parquet"), []byte("PAR1 is damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes, known := q.Reads(t.Context()); !known || bytes == 0 {
		t.Errorf("of a file that cannot be read any more, %d bytes are read, %t", bytes, known)
	}
}

// TestReads_OfFirstRowsTheColumnsThatFindThem: the second pass of a late materialisation reads few rows.
func TestReads_OfFirstRowsTheColumnsThatFindThem(t *testing.T) {
	dir := files(t, map[string]string{"t.parquet": ascending(t, 10_000, 60)})
	order, _ := read(t, dir, "SELECT max(k) FROM t WHERE k + 0 > 1").Reads(t.Context())
	if all, known := read(t, dir, "SELECT * FROM t ORDER BY k DESC LIMIT 10").Reads(t.Context()); all != order || !known {
		t.Errorf("%d bytes are read, want %d", all, order)
	}
}

// TestExplain_RowGroups: it says how many row groups are read, of files that say it.
func TestExplain_RowGroups(t *testing.T) {
	dir := files(t, map[string]string{"t.parquet": ascending(t, 4000, 1), "u.csv": "k\n1\n"})
	for text, want := range map[string]string{
		"SELECT max(s0) FROM t WHERE k = 5":                     "  1 of 5 row groups of t may have rows that WHERE wants\n",
		"SELECT max(s0) FROM t WHERE k = -5":                    "  0 of 5 row groups of t may have rows that WHERE wants\n",
		"SELECT max(s0) FROM t":                                 "",
		"SELECT max(k) FROM u WHERE k = 1":                      "",
		"SELECT max(s0) FROM t, u WHERE t.k = u.k AND t.k < 99": "  1 of 5 row groups of t may have rows that WHERE wants\n",
	} {
		told, err := read(t, dir, text).Explain(t.Context(), 0)
		if err != nil || want != "" && !strings.Contains(told, want) || want == "" && strings.Contains(told, "row group") {
			t.Errorf("%s: %v\n%s", text, err, told)
		}
	}
}
