package bind

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/syntax"
)

var offered = regexp.MustCompile(`Write (.+)\.$`)

// TestQ4_WhatAMessageOffersCanBeWritten: a column that several tables have is named as the message says, whatever the tables are called,
// and the statement is bound.
func TestQ4_WhatAMessageOffersCanBeWritten(t *testing.T) {
	sources := []string{"t", "t AS \"b c\"", "t AS \"select\"", "t AS \"q\"\"q\"", "t AS \"ü🦆\"", "'x/*.csv'",
		"(SELECT 1 AS a, 2 AS \"a b\")", "(SELECT 1 AS a) AS s"}
	for i, left := range sources {
		for k, right := range sources {
			if i == k {
				continue
			}
			for _, shape := range []string{"SELECT %s FROM %s, %s", "SELECT 1 FROM stations WHERE id IN (SELECT %s FROM %s, %s)",
				"SELECT (SELECT max(id) FROM stations WHERE id = %s) FROM %s, %s"} {
				text := fmt.Sprintf(shape, "a", left, right)
				_, err := bindText(text)
				e, ok := errors.AsType[*syntax.Error](err)
				if !ok {
					t.Fatalf("%s: %v", text, err)
				}
				forms := offered.FindStringSubmatch(e.Hint)
				if strings.HasPrefix(e.Hint, "Name the query in FROM") {
					left, right = strings.TrimSuffix(left, " AS q"), strings.TrimSuffix(right, " AS q")
					if strings.HasSuffix(left, ")") {
						left += " AS q"
					} else {
						right += " AS q"
					}
					forms = []string{"", "q.a"}
				}
				if forms == nil {
					t.Fatalf("%s: %s", text, e.Hint)
				}
				for form := range strings.SplitSeq(forms[1], ", or ") {
					text := fmt.Sprintf(shape, form, left, right)
					if _, err := bindText(text); err != nil {
						t.Errorf("%s: %v", text, err)
					}
				}
			}
		}
	}
}
