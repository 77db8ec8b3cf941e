package analysistest

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses/answer"
)

// Same expects two answers to have the same JSON, byte for byte, except for the name of the session.
func Same(t *testing.T, what string, got, want *answer.Answer) {
	t.Helper()
	g, w := text(t, got), text(t, want)
	if g == w {
		return
	}
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	from := max(0, at-200)
	t.Fatalf("%s: answers differ:\n%s\n---- want\n%s", what, g[from:min(len(g), at+200)], w[from:min(len(w), at+200)])
}

// text returns an answer as JSON, without the name of the session.
func text(t *testing.T, a *answer.Answer) string {
	t.Helper()
	a.Session = ""
	p, err := a.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(p)
}

// Rows returns the rows of a query, values separated by spaces and rows by separator.
func Rows(a *answer.Answer, query, separator string) string {
	var lines []string
	for _, r := range a.Query(query).Rows {
		lines = append(lines, strings.Trim(fmt.Sprintf("%v", r), "[]"))
	}
	return strings.Join(lines, separator)
}

// Expect expects the rows of a query, one per line.
func Expect(t *testing.T, a *answer.Answer, query, want string) {
	t.Helper()
	if got := Rows(a, query, "\n"); got != want {
		t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
	}
}

// ExpectRejected expects these numbers of rejected rows, by stream.
func ExpectRejected(t *testing.T, a *answer.Answer, want ...int) {
	t.Helper()
	if len(a.Rejected) != len(want) {
		t.Fatalf("%d streams have rejects, want %d", len(a.Rejected), len(want))
	}
	for i, n := range want {
		if got := a.Rejected[i]; got.Rows != uint64(n) {
			t.Errorf("%s: %d rows rejected, want %d: %+v", got.Stream, got.Rows, n, got.First)
		}
	}
}
