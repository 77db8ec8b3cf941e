package upload

import (
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
)

// NamedFiles reads --file.
func NamedFiles(c *cli.Context) (named []client.Named, err error) {
	for _, text := range c.StringSlice(call.FlagFile) {
		as, path, ok := strings.Cut(text, "=")
		if !ok || as == "" || path == "" {
			return nil, exit.Usagef("--file %s: write NAME=PATH, like --file trips=data/trips.jsonl", text)
		}
		named = append(named, client.Named{As: as, Path: path})
	}
	return named, nil
}
