package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/types"
)

// example has a value for each type that a form of a function names.
var example = map[string]string{
	"T": "1", "N": "1", "D": "DATE '2024-02-29'", "ANY": "1", "TEXT": "'month'", "TEXT[]": "['month']", "BIGINT": "1", "DOUBLE": "0.5e0",
	"DECIMAL": "0.5",
	"BOOLEAN": "TRUE", "DATE": "DATE '2024-02-29'", "TIMESTAMP": "TIMESTAMP '2024-02-29 12:00:00'", "INTERVAL": "INTERVAL 1 DAY",
}

// fitting has arguments for functions of several arguments that fail for those in example.
var fitting = map[string]string{
	"printf": "'%s', 1", "json_extract": "'{}', 'month'", "json_extract_string": "'{}', 'month'", "json_array_length": "'[]', '$'",
	"strptime":  "'2024', '%Y'",
	"make_date": "2024, 2, 29", "regexp_matches": "'month', 'm', 'i'", "regexp_replace": "'month', 'm', 'n', 'g'",
	"regexp_extract": "'month', '(m)', 1",
}

// TestEveryFunctionIsComputed: every form that package types declares has a kernel. Otherwise the documentation would list a function, and
// a statement that calls it would be refused.
func TestEveryFunctionIsComputed(t *testing.T) {
	for _, f := range types.Functions {
		if f.Class != types.Scalar {
			continue
		}
		for _, form := range f.Forms {
			takes, _, _ := strings.Cut(form, "->")
			var args []string
			for _, arg := range strings.Split(takes, ",") {
				if name := strings.TrimRight(strings.TrimSpace(arg), "?."); name != "" {
					value, known := example[name]
					if !known {
						t.Fatalf("%s: no example of %s", f.Name, name)
					}
					args = append(args, value)
				}
			}
			list := strings.Join(args, ", ")
			if len(args) > 1 && fitting[f.Name] != "" {
				list = fitting[f.Name]
			}
			call := fmt.Sprintf("%s(%s)", f.Name, list)
			if _, err := constantly(t, call); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		}
	}
}
