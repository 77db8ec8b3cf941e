package fold

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/internal/wire"
)

var waits = Spec{Name: "waits", Stream: "s", Merge: Never, PartitionBy: 2, Nulls: true,
	Keys: []Key{{"n", KeyInt}, {"t", KeyText}, {"row", KeyText}, {"m", KeyInt}}}

// rowsOf returns all rows of a table as texts.
func rowsOf(t *Table) (all []string) {
	for _, row := range t.Rows() {
		all = append(all, fmt.Sprintf("%d%t %s %s %d%t", t.KeyInt(row, 0), t.KeyNull(row, 0), t.KeyText(row, 1), t.KeyText(row, 2),
			t.KeyInt(row, 3), t.KeyNull(row, 3)))
	}
	return all
}

// TestWaiting_HasWhatWasMerged: all rows are in the parts of their first keys, in their order, even after a snapshot.
func TestWaiting_HasWhatWasMerged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	w, sent, want := NewWaiting(&waits), NewOutgoing(&waits), NewTable(&waits)
	for range 30 {
		sent.Reset()
		for range r.IntN(300) {
			long := strings.Repeat("x", max(0, r.IntN(100)-97)*r.IntN(40_000)) // some rows are longer than a block
			n, text, m := int64(r.IntN(50)-25), fmt.Sprint(r.IntN(3)), int64(r.Uint64())
			for _, to := range []*Table{sent, want} {
				key := to.Key()
				if n == 7 {
					key = key.Null()
				} else {
					key = key.Int(n)
				}
				if key = key.String(text).String(long); m%3 == 0 {
					to.Row(key.Null())
				} else {
					to.Row(key.Int(m))
				}
			}
		}
		if err := w.Merge(sent.AppendRows(nil, sent.Rows())); err != nil {
			t.Fatal(err)
		}
	}
	snapshot := w.Append(nil)
	again := NewWaiting(&waits)
	d := wire.NewReader(snapshot)
	if err := again.Read(&d); err != nil || d.Done() != nil || !bytes.Equal(again.Append(nil), snapshot) {
		t.Fatal("a snapshot is read as something else", err)
	}
	parts := want.Parted()
	for _, w := range []*Waiting{w, again} {
		held, all, used, of := w.Parted(), 0, 0, map[string]int{}
		for part := range Parts {
			got, same := NewTable(&waits), NewTable(&waits)
			if err := held.Part(part, got); err != nil {
				t.Fatal(err)
			}
			if err := parts.Part(part, same); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rowsOf(got), rowsOf(same)) {
				t.Fatalf("part %d has other rows than that of a table", part)
			}
			for _, row := range rowsOf(got) {
				fields := strings.Fields(row)
				if key := fields[0] + " " + fields[1]; of[key] != 0 && of[key] != part+1 {
					t.Fatalf("rows with the key %s are in two parts", key)
				} else {
					of[key] = part + 1
				}
			}
			if all += got.Len(); got.Len() > 0 {
				used++
			}
		}
		if all != want.Len() || w.Len() != all || used < Parts/3 {
			t.Fatalf("%d rows in %d parts, want %d", all, used, want.Len())
		}
	}
	for n := range 20 {
		d := wire.NewReader(snapshot[:len(snapshot)*n/20])
		if NewWaiting(&waits).Read(&d) == nil && d.Done() == nil {
			t.Fatalf("%d twentieths of a snapshot are taken for one", n)
		}
	}
}

// TestPartition_ByTheFirstKeys: rows of different tables with equal first keys are in one partition.
func TestPartition_ByTheFirstKeys(t *testing.T) {
	short := Spec{Name: "groups", Stream: "s", Keys: waits.Keys[:2], Nulls: true, Aggs: []Agg{{Name: "sum", Kind: Sum}}}
	long, groups := NewOutgoing(&waits), NewOutgoing(&short)
	for i := range int64(500) {
		long.Row(long.Key().Int(i % 40).String(fmt.Sprint(i % 3)).String("a row").Int(i))
		groups.Row(groups.Key().Int(i % 40).String(fmt.Sprint(i % 3)))
	}
	of, several := map[string]int{}, 0
	for part, rows := range groups.Partition(7) {
		for _, row := range rows {
			of[fmt.Sprint(groups.KeyInt(row, 0), string(groups.KeyText(row, 1)))] = part
		}
	}
	for part, rows := range long.Partition(7) {
		for _, row := range rows {
			if at := of[fmt.Sprint(long.KeyInt(row, 0), string(long.KeyText(row, 1)))]; at != part {
				t.Fatalf("row %d is in partition %d, its group in %d", row, part, at)
			}
		}
		if len(rows) > 0 {
			several++
		}
	}
	if several != 7 {
		t.Fatalf("rows are in %d of 7 partitions", several)
	}
}

// TestWaiting_AMalformedPartialSpoilsIt: Merge returns an error.
func TestWaiting_AMalformedPartialSpoilsIt(t *testing.T) {
	w := NewWaiting(&waits)
	if w.Merge([]byte("no batch")) == nil || w.Merge(NewTable(&waits).AppendRows(nil, nil)) == nil {
		t.Fatal("a malformed partial is merged")
	}
}

// TestR16_RowsThatWaitCount as much after a start as before it.
func TestR16_RowsThatWaitCount(t *testing.T) {
	w, sent := NewWaiting(&waits), NewOutgoing(&waits)
	for n := range int64(1000) {
		sent.Row(sent.Key().Int(n).String("text").String("more").Int(n))
	}
	if err := w.Merge(sent.AppendRows(nil, sent.Rows())); err != nil {
		t.Fatal(err)
	}
	again := NewWaiting(&waits)
	d := wire.NewReader(w.Append(nil))
	if err := again.Read(&d); err != nil || w.Bytes() < 10_000 || again.Bytes() != w.Bytes() {
		t.Fatalf("%d bytes wait, and %d after a snapshot; %v", w.Bytes(), again.Bytes(), err)
	}
}

// TestKeysOfManyRows: the columns of many rows have what each row has.
func TestKeysOfManyRows(t *testing.T) {
	flat := Spec{Name: "flat", Stream: "s", Merge: Never, PartitionBy: 1, Nulls: true, Keys: []Key{{"n", KeyInt}, {"m", KeyInt}}}
	for _, spec := range []*Spec{&waits, &flat} {
		r, rows := rand.New(rand.NewPCG(2, 3)), NewUnmerged(spec)
		for range 10_000 {
			key := rows.Key()
			for _, k := range spec.Keys {
				switch {
				case r.IntN(5) == 0:
					key = key.Null()
				case k.Kind == KeyInt:
					key = key.Int(int64(r.Uint64()))
				default:
					key = key.String(strings.Repeat("x", r.IntN(20)))
				}
			}
			rows.Row(key)
		}
		for k, key := range spec.Keys {
			for _, from := range []int{0, 1, 4000, 9000} {
				ints, texts, nulls := make([]int64, 1000), make([]string, 1000), make([]uint64, 16)
				if key.Kind == KeyInt {
					rows.KeyInts(ints, k, from)
				} else {
					rows.KeyTexts(texts, k, from)
				}
				some := rows.KeyNulls(k, from, 1000, nulls)
				for i := range 1000 {
					null := nulls[i>>6]>>(i&63)&1 == 1
					if null != rows.KeyNull(from+i, k) || null && !some || key.Kind == KeyInt && ints[i] != rows.KeyInt(from+i, k) ||
						key.Kind == KeyText && texts[i] != string(rows.KeyText(from+i, k)) {
						t.Fatalf("key %d of row %d is %d, %q, %t", k, from+i, ints[i], texts[i], null)
					}
				}
			}
		}
	}
}
