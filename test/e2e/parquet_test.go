package e2e

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// typed is a type that a text column may be written as.
type typed struct {
	node  parquet.Node
	value func(string) (parquet.Value, bool)
}

// types are tried in order; the last one accepts every value.
var types = []typed{
	{parquet.Int(64), func(s string) (parquet.Value, bool) {
		v, err := strconv.ParseInt(s, 10, 64)
		return parquet.Int64Value(v), err == nil && strconv.FormatInt(v, 10) == s
	}},
	{parquet.Leaf(parquet.DoubleType), func(s string) (parquet.Value, bool) {
		v, err := strconv.ParseFloat(s, 64)
		return parquet.DoubleValue(v), err == nil && !strings.ContainsAny(s, "nNxXpP_")
	}},
	{parquet.Timestamp(parquet.Microsecond), func(s string) (parquet.Value, bool) {
		v, err := time.Parse("2006-01-02 15:04:05", s)
		return parquet.Int64Value(v.UnixMicro()), err == nil && len(s) == 19
	}},
	{parquet.Date(), func(s string) (parquet.Value, bool) {
		v, err := time.Parse("2006-01-02", s)
		return parquet.Int32Value(int32(v.Unix() / 86400)), err == nil
	}},
	{parquet.String(), func(s string) (parquet.Value, bool) { return parquet.ByteArrayValue([]byte(s)), true }},
}

// asParquet converts a CSV file to Parquet. Each column gets the first type that fits all its values. Rows that are not CSV become nulls.
func asParquet(t *testing.T, text []byte) []byte {
	t.Helper()
	header, rows := table(text)
	group := make(parquet.Group)
	var of []typed
	for i, name := range header {
		column := slices.IndexFunc(types, func(k typed) bool {
			return !slices.ContainsFunc(rows, func(row []string) bool {
				if row == nil || row[i] == "" {
					return false
				}
				_, is := k.value(row[i])
				return !is
			})
		})
		of = append(of, types[column])
		group[name] = parquet.Compressed(parquet.Encoded(parquet.Optional(types[column].node),
			[]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}[i%2]), &parquet.Snappy)
	}
	schema := parquet.NewSchema("rows", group)
	var out bytes.Buffer
	w := parquet.NewWriter(&out, schema, parquet.MaxRowsPerRowGroup(300), parquet.PageBufferSize(4<<10))
	for _, row := range rows {
		values := make(parquet.Row, len(header))
		for i, name := range header {
			leaf, _ := schema.Lookup(name)
			v := parquet.NullValue().Level(0, 0, leaf.ColumnIndex)
			if row != nil && row[i] != "" {
				v, _ = of[i].value(row[i])
				v = v.Level(0, 1, leaf.ColumnIndex)
			}
			values[leaf.ColumnIndex] = v
		}
		if _, err := w.WriteRows([]parquet.Row{values}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// inParquet returns the form of Parquet files.
func inParquet() form {
	return form{"Parquet", func(t *testing.T, path string, text []byte) {
		put(t, strings.TrimSuffix(path, ".csv")+".parquet", asParquet(t, text))
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}}
}
