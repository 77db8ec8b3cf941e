package client

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// csvFile makes a file of records that say in which line they are; every 7th has a line end within quotes.
func csvFile(name string, records int) (content []byte, want []string) {
	var b bytes.Buffer
	b.WriteString("id,line\n")
	line := 2
	for i := range records {
		if i%7 == 3 {
			fmt.Fprintf(&b, "\"%s %d, \"\"two\"\"\\\nlines\",%d\n", name, i, line)
			want = append(want, fmt.Sprintf("\"%s %d, \"\"two\"\"\\lines\",%d", name, i, line))
			line += 2
			continue
		}
		fmt.Fprintf(&b, "%s %d,%d\n", name, i, line)
		want = append(want, fmt.Sprintf("%s %d,%d", name, i, line))
		line++
	}
	return b.Bytes(), want
}

// dataDir writes the files of two cities and returns what must arrive, by stream and file.
func dataDir(t testing.TB, records int) (string, map[string][]string) {
	dir, want := t.TempDir(), make(map[string][]string)
	for _, city := range []string{"montreal", "toronto"} {
		for name, n := range map[string]int{"stations": records / 10, "trips": records} {
			content, rows := csvFile(city+name, n)
			file := filepath.Join(dir, city, name+".csv")
			if city == "toronto" && name == "trips" {
				file, content = file+".gz", packed(t, content)
			}
			write(t, file, content)
			want[name+" "+city+"/"+name+".csv"] = rows
		}
	}
	return dir, want
}

func packed(t testing.TB, content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t testing.TB, file string, content []byte) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare reports what arrived too often or not at all.
func (f *fakeCluster) compare(want map[string][]string) {
	f.t.Helper()
	s := f.one()
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, rows := range want {
		got := slices.Clone(s.records[key])
		slices.Sort(got)
		rows = slices.Sorted(slices.Values(rows))
		if !slices.Equal(got, rows) {
			f.t.Errorf("%s: %d records arrived, %d were sent; equal they are not", key, len(got), len(rows))
		}
	}
	if len(s.records) != len(want) {
		f.t.Errorf("%d files arrived, %d were sent", len(s.records), len(want))
	}
}
