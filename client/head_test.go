package client

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/rows/csv"
)

// TestHeadSendsTheFirstRecords: a stream has a head. The records that arrive are the first ones in the order of files and lines, and at
// most a chunk more than the head. The other streams arrive completely.
func TestHeadSendsTheFirstRecords(t *testing.T) {
	for _, head := range []int64{1, 300, 2_000, 7_000, 1 << 40} {
		t.Run(fmt.Sprint(head), func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t, 2, 1)
			dir, want := t.TempDir(), map[string][]string{}
			content, stations := csvFile("stations", 2)
			write(t, filepath.Join(dir, "d0", "stations.csv"), content)
			for i, rows := range []int{90, 0, 300, 8} { // as text the name d-1 comes before d0, but as a directory it comes after
				name := fmt.Sprintf("d%d/trips.csv", i)
				if i == 3 {
					name = "d-1/trips.csv"
				}
				content, want["trips "+name] = csvFile(name, rows)
				write(t, filepath.Join(dir, name), content)
			}
			cfg := f.config()
			cfg.Dir, cfg.Chunk = dir, 200
			cfg.Head = func(stream string) int64 { return map[string]int64{"trips": head}[stream] }
			answer, err := Run(during(t, 30*time.Second), cfg)
			if err != nil {
				t.Fatal(err)
			}
			s := f.one()
			f.mu.Lock()
			defer f.mu.Unlock()
			if got := s.records["stations d0/stations.csv"]; !slices.Equal(slices.Sorted(slices.Values(got)), stations) {
				t.Errorf("of the stations arrived %q", got)
			}
			bytes, ended := int64(0), false
			for _, key := range slices.Sorted(maps.Keys(want)) {
				got := slices.Clone(s.records[key])
				slices.SortFunc(got, func(a, b string) int { return slices.Index(want[key], a) - slices.Index(want[key], b) })
				if len(got) > len(want[key]) || !slices.Equal(got, want[key][:len(got)]) {
					t.Errorf("%s: what arrived is not the beginning: %q", key, got)
				}
				if ended && len(got) > 0 {
					t.Errorf("%s: there are records behind the head", key)
				}
				for _, record := range got {
					bytes += int64(len(record)) + 1
				}
				ended = ended || len(got) < len(want[key])
			}
			if answer.Partial != ended || answer.Partial != (head < 1<<40) {
				t.Errorf("partial is %t, and records were left out: %t", answer.Partial, ended)
			}
			if ended && (bytes < head || bytes > head+400) {
				t.Errorf("%d bytes arrived, and %d are enough", bytes, head)
			}
		})
	}
}

// TestHeadOfParquet: of Parquet files the first rows are sent, at most a chunk more than the head. It is counted in bytes as they travel.
func TestHeadOfParquet(t *testing.T) {
	for _, head := range []int64{1, 3_000, 1 << 40} {
		f := newFakeCluster(t, 2, 1)
		dir := t.TempDir()
		content, _ := csvFile("stations", 2)
		write(t, filepath.Join(dir, "a", "stations.csv"), content)
		content, rides := inParquet(t, 400)
		write(t, filepath.Join(dir, "a", "trips.parquet"), content)
		write(t, filepath.Join(dir, "b", "trips.parquet"), content)
		cfg := f.config()
		cfg.Dir, cfg.Chunk = dir, 700
		cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}} }
		cfg.Head = func(stream string) int64 { return map[string]int64{"trips": head}[stream] }
		answer, err := Run(during(t, 30*time.Second), cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := f.one()
		f.mu.Lock()
		first, second := s.records["trips a/trips.csv"], s.records["trips b/trips.csv"]
		part := head < 1<<40
		for _, got := range [][]string{first, second} {
			slices.SortFunc(got, func(a, b string) int { return slices.Index(rides, a) - slices.Index(rides, b) })
			if len(got) > len(rides) || !slices.Equal(got, rides[:len(got)]) {
				t.Errorf("head %d: what arrived is not the beginning: %q", head, got)
			}
		}
		if answer.Partial != part || (len(first)+len(second) == 2*len(rides)) == part {
			t.Errorf("head %d: partial is %t, and %d and %d rows arrived", head, answer.Partial, len(first), len(second))
		}
		if part && (len(second) > 0 || s.bytes < head || s.bytes > head+2*int64(cfg.Chunk)) {
			t.Errorf("%d bytes arrived, and %d are enough; %d rows are of the second file", s.bytes, head, len(second))
		}
		f.mu.Unlock()
	}
}
