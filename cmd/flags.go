package cmd

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/protocol"
	"posta.dev/posta/topology"
)

// Names of flags that several commands have.
const (
	flagTopology = "topology"
	flagEntry    = "entry"
	flagJSON     = "json"
	flagOut      = "out"
	flagFormat   = "format"
	flagDownload = "download"
	flagData     = "data"
	flagParam    = "param"
	flagLanes    = "lanes"
	flagChunk    = "chunk"
	flagSend     = "send"
	flagTimeout  = "timeout"
	flagQuiet    = "quiet"
	flagHost     = "host"
	flagAddress  = "address"
	flagDocker   = "docker"
	flagSystemd  = "systemd"
	flagRender   = "render"

	flagDelimiter = "delimiter"
	flagFile      = "file"

	flagDownloadPrivate = "download-private"
)

func topologyFlag() cli.Flag {
	return &cli.StringFlag{Name: flagTopology, Aliases: []string{"f"}, Value: "topology.toml", EnvVars: []string{"POSTA_TOPOLOGY"},
		Usage: "the `FILE` that describes the system"}
}

func entryFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagEntry, Aliases: []string{"e"}, EnvVars: []string{"POSTA_ENTRY"},
		Usage: "an `ENDPOINT` of the cluster, like tcp://host:5500, instead of a topology file; may be repeated"}
}

func addressFlag() cli.Flag {
	return &cli.StringFlag{Name: flagAddress, EnvVars: []string{"POSTA_ADDRESS"}, DefaultText: "what the file says",
		Usage: "the `ADDRESS` at which nodes and medics find each other, on every host; in a network of containers write \"{node}\", which " +
			"stands for the node's name. Clients use the addresses of the file"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: flagJSON, Usage: "print JSON, and nothing else, on standard output"}
}

func hostFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: flagHost,
		Usage: "only the nodes of the host called `NAME` in the topology; may be repeated. Needed when there are several machines"}
}

// uploadFlags say what to send and what to do with the answers.
func uploadFlags() []cli.Flag {
	return slices.Concat(rejectFlags(), outFlags(), []cli.Flag{
		&cli.StringFlag{Name: flagData, Usage: "the `DIR` with the files: CSV or JSON Lines, plain or packed with gzip, zstd, lz4 or bzip2, " +
			"or Parquet. For an analysis of one stream this may be a single file, or - for standard input"},
		&cli.StringSliceFlag{Name: flagFile, Usage: "`STREAM=PATH`: read PATH instead of the stream's files below --data. PATH is a file, a " +
			"pattern in quotes, an address (https://...), or - for standard input. NAME=PATH, with a name like montreal/trips.csv, says which " +
			"file PATH stands for; may be repeated"},
		&cli.StringFlag{Name: flagDelimiter, DefaultText: "what the header shows",
			Usage: "the `CHARACTER` between the columns of all CSV files, or comma, semicolon, tab, pipe"},
		&cli.StringSliceFlag{Name: flagParam, Aliases: []string{"p"},
			Usage: "set a parameter of the analysis, `NAME=VALUE`; may be repeated. posta analyses lists the parameters"},
		&cli.IntFlag{Name: flagLanes, DefaultText: "4",
			Usage: "`N` chunks under way at once, 1 to 1024: more hide the time a disk takes, and cost memory"},
		&cli.StringFlag{Name: flagChunk,
			Usage: "`SIZE` of a chunk, like 64KiB; 1 sends every record by itself (default: what the cluster asks for)"},
		&cli.BoolFlag{Name: flagSend,
			Usage: "send all files, even those that inputs could read in place (data.roots of the topology); --chunk does this, too"},
		&cli.DurationFlag{Name: flagTimeout, DefaultText: "never", Usage: "give up after this `TIME`, like 10m"},
		jsonFlag(),
		eventsFlag(),
		&cli.BoolFlag{Name: flagQuiet, Aliases: []string{"q"}, Usage: "show no progress"},
	}, downloadFlags())
}

// params reads --param NAME=VALUE.
func params(c *cli.Context) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range c.StringSlice(flagParam) {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usagef("--param %s: write NAME=VALUE, like --param rain_mm=20", p)
		}
		out[name] = value
	}
	return out, nil
}

// chunk reads --chunk; 0 lets the cluster decide.
func chunk(c *cli.Context) (int, error) {
	text := c.String(flagChunk)
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
		return 0, usagef("--chunk %s: give a size from 1 to 16MiB, like 64KiB", text)
	}
	return int(n), nil
}

// delimiter reads --delimiter; 0 detects the separator from the headers.
func delimiter(c *cli.Context) (byte, error) {
	text := c.String(flagDelimiter)
	if !c.IsSet(flagDelimiter) {
		return 0, nil
	}
	if named, ok := map[string]byte{"comma": ',', "semicolon": ';', "tab": '\t', `\t`: '\t', "pipe": '|'}[text]; ok {
		return named, nil
	}
	if len(text) != 1 || text[0] != '\t' && (text[0] < ' ' || text[0] > '~') || text[0] == '"' {
		return 0, usagef("--delimiter %q: give one character of ASCII, or comma, semicolon, tab or pipe", text)
	}
	return text[0], nil
}

// replicas reads --replicas joiner=3,aggregator=2 or all=N.
func replicas(text string, stages []string) (map[string]int, error) {
	out := map[string]int{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		stage, number, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 1 {
			return nil, usagef("--replicas %s: write STAGE=NUMBER, like joiner=3,aggregator=2 or all=2", part)
		}
		switch {
		case stage == "all":
			for _, s := range stages {
				if _, given := out[s]; !given {
					out[s] = n
				}
			}
		case !slices.Contains(stages, stage):
			return nil, usagef("--replicas %s: unknown stage %q; the choices are all, %s", part, stage, strings.Join(stages, ", "))
		default:
			out[stage] = n
		}
	}
	return out, nil
}

// oneArgument returns the one argument that a command needs.
func oneArgument(c *cli.Context, what, example string) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		return "", usagef("%s: which %s? Like: posta %[1]s %[3]s", commandName(c), what, example)
	}
	return "", usagef("%s: give one %s, not %d (%s)", commandName(c), what, c.NArg(), strings.Join(c.Args().Slice(), " "))
}

// commandName returns the words behind posta: "log verify".
func commandName(c *cli.Context) string {
	return strings.TrimSpace(strings.TrimPrefix(c.Command.HelpName, "posta"))
}

// noArguments refuses arguments, which the command would otherwise ignore.
func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("%s: takes no arguments, but got %q; posta %[1]s --help lists its flags", commandName(c), c.Args().First())
	}
	return nil
}
