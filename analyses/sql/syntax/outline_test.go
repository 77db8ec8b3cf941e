package syntax

import "testing"

func TestOutline(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT a FROM t WHERE b = 'x''y' AND c > -1.5e3 LIMIT 10": "SELECT a FROM t WHERE b = ? AND c > -? LIMIT ?",
		`SELECT "it's 1", c1, $p2 FROM 'a/b.csv'`:                  `SELECT "it's 1", c1, $p2 FROM ?`,
		"SELECT DATE '2024-01-01', x->>'$.a'":                      "SELECT DATE ?, x->>?",
		"SELECT 'no end":                                           "",
		"":                                                         "",
	} {
		if got := Outline(statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
}
