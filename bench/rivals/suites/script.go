package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// step is one record of a script: a statement, a query, or a loop around others.
type step struct {
	line  int
	query bool
	text  string
	steps []step   // of a loop
	name  string   // of a loop's variable
	over  []string // its values
}

// parseScript reads a file of sqllogictest in DuckDB's form. Records for other engines, restarts and concurrency are left out; at `mode
// skip` and `halt` the rest is.
func parseScript(path string) ([]step, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []string
	for s := bufio.NewScanner(strings.NewReader(string(b))); s.Scan(); {
		lines = append(lines, s.Text())
	}
	steps, _, err := parseSteps(lines, 0)
	return steps, err
}

func parseSteps(lines []string, at int) (steps []step, next int, err error) {
	skip := false
	for at < len(lines) {
		words := strings.Fields(lines[at])
		line := at + 1
		at++
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		switch words[0] {
		case "endloop":
			return steps, at, nil
		case "halt":
			return steps, len(lines), nil
		case "mode":
			skip = len(words) > 1 && words[1] == "skip"
		case "require", "load":
			// A test of an extension, or of a database in a file.
			if words[0] == "require" && !strings.HasPrefix(lines[at-1], "require vector_size") && !strings.HasPrefix(lines[at-1], "require no_") &&
				!strings.Contains("parquet json icu tpch skip_reload", words[len(words)-1]) {
				return steps, len(lines), nil
			}
		case "loop", "foreach", "concurrentloop", "concurrentforeach":
			inner, after, err := parseSteps(lines, at)
			if err != nil {
				return nil, 0, err
			}
			s := step{line: line, steps: inner, name: words[1], over: words[2:]}
			if strings.HasSuffix(words[0], "loop") && len(words) == 4 {
				s.over = nil
				from, _ := strconv.Atoi(words[2])
				to, err := strconv.Atoi(words[3])
				if err != nil {
					return nil, 0, fmt.Errorf("line %d: %w", line, err)
				}
				for i := from; i < min(to, from+20); i++ {
					s.over = append(s.over, strconv.Itoa(i))
				}
			}
			at = after
			if !skip {
				steps = append(steps, s)
			}
		case "statement", "query":
			var text []string
			for at < len(lines) && strings.TrimSpace(lines[at]) != "" && !strings.HasPrefix(lines[at], "----") {
				text = append(text, lines[at])
				at++
			}
			for at < len(lines) && strings.TrimSpace(lines[at]) != "" { // what it expects
				at++
			}
			if !skip && len(text) > 0 {
				steps = append(steps, step{line: line, query: words[0] == "query", text: strings.TrimRight(strings.Join(text, "\n"), "; ")})
			}
		}
	}
	return steps, at, nil
}

// each calls do for each statement and query, loops unrolled.
func each(steps []step, vars map[string]string, do func(step) error) error {
	for _, s := range steps {
		if s.steps != nil {
			for _, v := range s.over {
				inner := map[string]string{s.name: v}
				for k, was := range vars {
					inner[k] = was
				}
				if err := each(s.steps, inner, do); err != nil {
					return err
				}
			}
			continue
		}
		for k, v := range vars {
			s.text = strings.NewReplacer("${"+k+"}", v, "{"+k+"}", v).Replace(s.text)
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}
