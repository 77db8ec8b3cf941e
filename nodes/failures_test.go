package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/sql/exec"
	"posta.dev/posta/analyses/sql/infer"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/topology"
)

// failures are errors that make a client act, one of each cause, and what the client has to hear of them.
var failures = map[string]struct {
	err  error
	want protocol.Fields
}{
	"wider": {&infer.Wider{Table: "t", Column: "k\xff", Was: types.BigInt, Is: types.Double, Value: "1.5"},
		protocol.Fields{"cause": "wider_type", "table": "t", "column": "k\xff", "was": "BIGINT", "is": "DOUBLE", "value": "1.5"}},
	"reference": {fmt.Errorf("%w: 8 bytes", exec.ErrReference), protocol.Fields{"cause": "reference_memory"}},
	"statement": {analyses.BehindRow(syntax.NewError("SELECT 1", 7, "no", ""), "t.csv", 3),
		protocol.Fields{"cause": "statement", "file": "t.csv", "line": "3", "near": "yes",
			"text": "line 1, column 8: no\n    SELECT 1\n           ^"}},
	"stray": {analyses.InRow(&csv.RowError{Fault: csv.RowsInQuotes, Field: 2, Lines: 9, Closed: true}, "t.csv", 3),
		protocol.Fields{"cause": "stray_quote", "file": "t.csv", "line": "3", "closed": "true",
			"text": (&csv.RowError{Fault: csv.RowsInQuotes, Field: 2, Lines: 9, Closed: true}).Error()}},
}

// failsWith is an analysis whose joiner fails.
func failsWith(name string) *analyses.Analysis {
	a := *bikes.New()
	a.Name = name
	a.NewJoiner = func(analyses.Args, analyses.Replica) (analyses.Joiner, error) { return nil, failures[name].err }
	return &a
}

// TestR13_AFailureKeepsItsFields: what programs should know of a failure reaches the client from the stage that failed, and again from the
// log of an output that was started again.
func TestR13_AFailureKeepsItsFields(t *testing.T) {
	dir, _ := data(t, 100)
	c := start(t, topology.Variant{})
	ids := map[string]session.ID{}
	check := func(name, when string, err error) {
		got := protocol.FieldsOf(err)
		if !errors.Is(err, protocol.ErrFailed) || got["stage"] != "joiner" || got["node"] == "" || got["analysis"] != name {
			t.Errorf("%s, %s: %v, %v", name, when, err, got)
		}
		for _, place := range []string{"stage", "node", "analysis", "session"} {
			delete(got, place)
		}
		if !reflect.DeepEqual(got, failures[name].want) {
			t.Errorf("%s, %s: %v, not %v", name, when, got, failures[name].want)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for name := range failures {
		id := session.New()
		ids[name] = id
		_, err := client.Run(ctx, client.Config{Entries: c.topo.EntryPoints(), Analysis: name, Dir: dir, Session: id, KeepResults: true})
		check(name, "from the stage", err)
	}
	results := func(name, when string) {
		cl, err := client.Dial(ctx, client.Config{Entries: c.topo.EntryPoints(), Session: ids[name]})
		if err != nil {
			t.Fatal(err)
		}
		_, err = cl.Results(ctx)
		check(name, when, err)
		if err := cl.Close(); err != nil {
			t.Error(err)
		}
	}
	for name := range failures {
		results(name, "from the output")
	}
	for id, stop := range c.stops {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		c.run(id)
	}
	for name := range failures {
		results(name, "from its log")
	}
}
