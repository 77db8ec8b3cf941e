package run

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/client"
	"posta.dev/posta/topology"
)

func TestManyCoresGetTwoInputs(t *testing.T) {
	one, several := t.TempDir(), t.TempDir()
	for _, name := range []string{one + "/porto/trips.csv", several + "/porto/trips.csv", several + "/lyon/trips.csv",
		several + "/oslo/trips.csv.gz"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("start_date\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what  string
		cores int
		cfg   client.Config
		want  int
	}{
		{"several files", 12, client.Config{Dir: several}, 2},
		{"too few cores", 11, client.Config{Dir: several}, 1},
		{"one file", 64, client.Config{Dir: one}, 1},
		{"no files, which the session reports", 64, client.Config{Dir: t.TempDir()}, 1},
		{"a named file", 64, client.Config{Dir: several, Named: []client.Named{{Path: one + "/porto/trips.csv", As: "porto/trips.csv"}}}, 1},
	} {
		if got := inputsFor(context.Background(), c.cores, &c.cfg, bikes.New()); got != c.want {
			t.Errorf("%s: %d inputs, want %d", c.what, got, c.want)
		}
	}
}

func TestFlagsSayHowManyInputs(t *testing.T) {
	for _, v := range []topology.Variant{{Replicas: map[string]int{"aggregator": 3}}, {SplitParsers: true}} {
		if widen(&v, 2); v.Replicas["input"] != 0 {
			t.Errorf("the flags gave %v, split parsers: %v, and the run has %d inputs", v.Replicas, v.SplitParsers, v.Replicas["input"])
		}
	}
}
