package question

import (
	"errors"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
)

// TestMend_FewerSmallTables: if the small tables do not fit, the statement is asked with fewer, then with none, and then no more.
func TestMend_FewerSmallTables(t *testing.T) {
	in := client.NewInput(files(t, map[string]string{"few.csv": "a\n1\n"}), nil, nil, 0)
	defer func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}()
	q, err := Read(t.Context(), Config{Text: "SELECT a FROM few", Input: in, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	full := analyses.LargeReference(errors.New("full"))
	for _, want := range []int64{fewer, -1} {
		if told, err := q.Mend(t.Context(), full); told == "" || err != nil || q.Plan(0).Small != want {
			t.Errorf("%q, %v, %d bytes", told, err, q.Plan(0).Small)
		}
	}
	if told, err := q.Mend(t.Context(), full); told != "" || err != nil {
		t.Errorf("%q, %v", told, err)
	}
}
