package reach

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/topology"
)

// replicas reads --replicas joiner=3,aggregator=2 or all=N.
func replicas(text string, stages []string) (map[string]int, error) {
	out := map[string]int{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		stage, number, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 1 {
			return nil, exit.Usagef("--replicas %s: write STAGE=NUMBER, like joiner=3,aggregator=2 or all=2", part)
		}
		switch {
		case stage == "all":
			for _, s := range stages {
				if _, given := out[s]; !given {
					out[s] = n
				}
			}
		case !slices.Contains(stages, stage):
			return nil, exit.Usagef("--replicas %s: unknown stage %q; the choices are all, %s", part, stage, strings.Join(stages, ", "))
		default:
			out[stage] = n
		}
	}
	return out, nil
}

// Variant reads --replicas, --split-parsers and --set.
func Variant(c *cli.Context) (v topology.Variant, err error) {
	v.SplitParsers, v.Settings = c.Bool("split-parsers"), map[string]string{}
	for _, s := range c.StringSlice("set") {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return v, exit.Usagef("--set %s: write KEY=VALUE, like limits.window=1MiB", s)
		}
		v.Settings[key] = value
	}
	stages := []string{"input", "joiner", "aggregator", "reducer", "output"}
	if v.SplitParsers {
		stages = slices.Insert(stages, 1, "parser")
	}
	v.Replicas, err = replicas(c.String("replicas"), stages)
	return v, err
}

// AsUsage turns the refusal of a variant into a usage error: the mistakes are in the flags, not in a file that a user wrote.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	var mistakes topology.Errors
	if errors.As(err, &mistakes) { // their positions are in a generated text, which the user has not seen
		var texts []string
		for _, m := range mistakes {
			texts = append(texts, m.What+"; "+m.Fix)
		}
		return exit.Usagef("no such cluster is possible: %s", strings.Join(texts, "; "))
	}
	return exit.Usagef("%s", exit.OneLine(err))
}
