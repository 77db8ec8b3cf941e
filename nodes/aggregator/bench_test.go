package aggregator

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"runtime/debug"
	"testing"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
	"posta.dev/posta/wal"
)

var groups = flag.Int("groups", 1_000_000, "distinct groups of BenchmarkGroups")

// BenchmarkGroups takes distinct groups and hands them on: once with all of them in memory, and with limits.tables of 48 MiB, where they
// move to files of a real log. Both are in one run, so that their times can be compared. heap-MB is the largest heap that was in use at the
// end of a commit.
//
//	go test ./nodes/aggregator -run '^$' -bench Groups -benchtime 1x -groups 10000000
func BenchmarkGroups(b *testing.B) {
	for _, bench := range []struct {
		name  string
		limit int
	}{{"memory", 1 << 50}, {"files", 48 << 20}} {
		b.Run(bench.name, func(b *testing.B) {
			for range b.N {
				benchGroups(b, bench.limit)
			}
		})
	}
}

// counted is an emitter that counts rows, as a receiver would read them, and keeps none.
type counted struct {
	table []*fold.Table
	rows  int
}

func (c *counted) Partitions() int     { return 1 }
func (c *counted) Limits() role.Limits { return role.NoLimits }
func (c *counted) Emit(_ int, m role.Message) {
	if err := role.Merge(c.table, m.Payload); err != nil {
		panic(err)
	}
	c.rows += c.table[1].Len()
	c.table[1].Reset()
}

func benchGroups(b *testing.B, limit int) {
	const perFrame, perCommit = 8192, 8
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // as nodes do
	log, err := wal.Open(b.TempDir(), wal.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	a := New()
	a.AttachFiles(log)
	s, err := role.ReadAnnouncement(id, role.Announcement{Analysis: "paint"}.Encode(), roletest.Known(), analyses.Replica{Of: 1})
	if err != nil {
		b.Fatal(err)
	}
	if err := a.Open(s); err != nil {
		b.Fatal(err)
	}
	most, moves := uint64(0), 0
	commit := func() {
		for x, found := a.Excess(limit); found; x, found = a.Excess(limit) {
			if _, err := a.Spill(x, nil); err != nil {
				b.Fatal(err)
			}
			moves++
		}
		files := a.Unsaved()
		for _, f := range files {
			if err := log.SaveFile(f.Name, f.Parts...); err != nil {
				b.Fatal(err)
			}
		}
		a.Saved(files)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
	}
	made := fold.NewTable(&s.Analysis.Tables[1])
	encoder := new(role.PartialEncoder)
	for at := 0; at < *groups; at += perFrame {
		b.StopTimer()
		made.Reset()
		for i := at; i < min(*groups, at+perFrame); i++ {
			made.AddSum(made.Row(made.Key().String(fmt.Sprintf("colour %012d", i))), 0, 1)
		}
		m := role.Message{Stream: 1, Payload: encoder.Encode(1, made, made.Rows())}
		b.StartTimer()
		if _, err := a.Take(id, m, nil); err != nil {
			b.Fatal(err)
		}
		if at/perFrame%perCommit == 0 {
			commit()
		}
	}
	out := &counted{table: role.NewTables(s.Analysis, fold.NewUnion)}
	more, err := a.End(id, 1, out)
	commit()
	for page := 0; more && err == nil; page++ {
		if more, err = a.More(id, out); page%64 == 0 {
			commit()
		}
	}
	if err != nil || out.rows != *groups {
		b.Fatalf("%d of %d groups left: %v", out.rows, *groups, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(*groups), "ns/group")
	b.ReportMetric(float64(most)/(1<<20), "heap-MB")
	b.ReportMetric(float64(moves), "moves")
}
