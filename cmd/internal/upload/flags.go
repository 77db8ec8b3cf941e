package upload

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/rejects"
	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// UploadFlags say what to send and what to do with the answers.
func UploadFlags() []cli.Flag {
	return slices.Concat(rejects.Flags(), deliver.OutFlags(), []cli.Flag{
		&cli.StringFlag{Name: call.FlagData,
			Usage: "the `DIR` with the files: CSV or JSON Lines, plain or packed with gzip, zstd, lz4 or bzip2, " +
				"or Parquet. For an analysis of one stream this may be a single file, or - for standard input"},
		&cli.StringSliceFlag{Name: call.FlagFile,
			Usage: "`STREAM=PATH`: read PATH instead of the stream's files below --data. PATH is a file, a " +
				"pattern in quotes, an address (https://...), or - for standard input. NAME=PATH, with a name like montreal/trips.csv, says which " +
				"file PATH stands for; may be repeated"},
		&cli.StringFlag{Name: call.FlagDelimiter, DefaultText: "what the header shows",
			Usage: "the `CHARACTER` between the columns of all CSV files, or comma, semicolon, tab, pipe"},
		&cli.StringSliceFlag{Name: call.FlagParam, Aliases: []string{"p"},
			Usage: "set a parameter of the analysis, `NAME=VALUE`; may be repeated. posta analyses lists the parameters"},
		&cli.IntFlag{Name: call.FlagLanes, DefaultText: "4",
			Usage: "`N` chunks under way at once, 1 to 1024: more chunks hide the latency of disks, and cost memory"},
		&cli.StringFlag{Name: call.FlagChunk,
			Usage: "`SIZE` of a chunk, like 64KiB; 1 sends every record by itself (default: what the cluster asks for)"},
		&cli.BoolFlag{Name: call.FlagSend,
			Usage: "send all files, even those that inputs could read in place (data.roots of the topology); --chunk does this, too"},
		&cli.DurationFlag{Name: call.FlagTimeout, DefaultText: "never", Usage: "give up after this `TIME`, like 10m"},
		call.JSONFlag(nil),
		call.EventsFlag(),
		&cli.BoolFlag{Name: call.FlagQuiet, Aliases: []string{"q"}, Usage: "show no progress"},
	}, deliver.DownloadFlags())
}

// Params reads --param NAME=VALUE.
func Params(c *cli.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range c.StringSlice(call.FlagParam) {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, exit.Usagef("--param %s: write NAME=VALUE, like --param rain_mm=20", p)
		}
		out[name] = value
	}
	return out, nil
}

// Chunk reads --chunk; 0 lets the cluster decide.
func Chunk(c *cli.Context) (int, error) {
	text := c.String(call.FlagChunk)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		var size topology.Size
		size, err = topology.ParseSize(text)
		n = int64(size)
	}
	if err != nil || n < 1 || n > protocol.MaxData {
		return 0, exit.Usagef("--chunk %s: give a size from 1 to 16MiB, like 64KiB", text)
	}
	return int(n), nil
}

// Delimiter reads --delimiter; 0 detects the separator from the headers.
func Delimiter(c *cli.Context) (byte, error) {
	text := c.String(call.FlagDelimiter)
	if !c.IsSet(call.FlagDelimiter) {
		return 0, nil
	}
	if named, ok := map[string]byte{"comma": ',', "semicolon": ';', "tab": '\t', `\t`: '\t', "pipe": '|'}[text]; ok {
		return named, nil
	}
	if len(text) != 1 || text[0] != '\t' && (text[0] < ' ' || text[0] > '~') || text[0] == '"' {
		return 0, exit.Usagef("--delimiter %q: give one character of ASCII, or comma, semicolon, tab or pipe", text)
	}
	return text[0], nil
}
