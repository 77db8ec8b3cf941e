package sim

import (
	"bytes"
	"slices"
	"testing"

	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/rows/fold"
)

// TestQ1_QuestionsReadTheFilesOfAnUpload: the plan of each question has the streams that clients of the simulator have files for, in their
// order, and its small table is a reference stream. Where the two tables do not meet, it is not one, and parsers fold the facts. Neither is
// it where aggregators join the tables.
func TestQ1_QuestionsReadTheFilesOfAnUpload(t *testing.T) {
	for _, q := range questions {
		p, err := split.Decode(q.plan(q.text, &sqlData{}))
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Analysis()
		if err != nil {
			t.Errorf("%s: %v", q.name, err)
			continue
		}
		if len(a.Streams) != 2 || a.Streams[0].Name != streamNames[0] || a.Streams[0].Reference == (q.apart || q.large) ||
			a.Streams[1].Name != streamNames[1] || a.Streams[1].Reference {
			t.Errorf("%s: %+v", q.name, a.Streams)
			continue
		}
		if made := slices.ContainsFunc(a.Tables, func(s fold.Spec) bool { return len(s.From) == 2 }); made != q.large {
			t.Errorf("%s: aggregators join: %t", q.name, made)
		}
		if folder, err := a.NewFolder(nil, 1); (folder != nil) != q.apart || err != nil {
			t.Errorf("%s: folder %v, %v", q.name, folder, err)
		}
	}
}

// TestQ7_StatementsAreAnsweredUnderFaults: some sessions of SQL succeed, with rows in their answers. A seed with them
// always gives the same run.
func TestQ7_StatementsAreAnsweredUnderFaults(t *testing.T) {
	rows, answers := uint64(0), 0
	for seed := range uint64(8) {
		var one, two bytes.Buffer
		a, err := Run(Options{Seed: seed, SQL: true, Trace: &one})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := Run(Options{Seed: seed, SQL: true, Trace: &two})
		if a.Hash != b.Hash || !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("seed %d is another run the second time", seed)
		}
		rows += a.Counters["rows of SQL"]
		answers += a.Injected["SQL"]
	}
	if rows == 0 || answers == 0 {
		t.Errorf("%d sessions of SQL have %d rows", answers, rows)
	}
}
