package ask

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/run"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// Command returns posta sql.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "sql", ArgsUsage: "[STATEMENT]",
		Usage: "answer SQL over CSV, JSON Lines and Parquet files, on a private cluster",
		Description: `   posta sql --data data/bikes \
         "SELECT start_station_code, count(*) FROM '*/trips.csv' GROUP BY 1"
   posta sql --data DIR --questions questions.sql --json > answers.json
   posta sql --data DIR --explain 'SELECT count(*) FROM trips'
   posta sql --data DIR    # a prompt, on a terminal; .help tells its commands

FROM trips reads DIR/trips.csv, all of DIR/trips/*.csv, or DIR/trips.tsv; FROM 'pattern' the files below DIR that fit; FROM '-' standard input. --file trips=PATH says
which files trips is. Types of columns come from samples of the files (docs/sql.md).

` + exit.Help,
		Flags:  append(sqlFlags(), run.ClusterFlags()...),
		Action: x.WithEvents(x.sql),
	}
}

// sqlFlags returns the flags of run that also apply to statements, and the flags for statements only.
func sqlFlags() (flags []cli.Flag) {
	without := map[string]bool{call.FlagDownload: true, call.FlagDownloadPrivate: true, call.FlagParam: true, call.FlagFile: true,
		call.FlagData: true}
	for _, f := range upload.UploadFlags() {
		if !without[f.Names()[0]] {
			flags = append(flags, f)
		}
	}
	return append(flags,
		&cli.StringFlag{Name: call.FlagData, Value: ".",
			Usage: "the `DIR` with the files, or one file, which is then a table called like the file"},
		&cli.StringSliceFlag{Name: call.FlagFile, Usage: "`TABLE=PATH`: the files of a table; a pattern in quotes, an address (https://..., " +
			"s3://...), or - for standard input; may be repeated"},
		&cli.StringSliceFlag{Name: call.FlagParam, Aliases: []string{"p"},
			Usage: "set a parameter, `NAME=VALUE`, which the statement calls $NAME or :NAME; may be repeated"},
		&cli.StringFlag{Name: FlagQuestions, Aliases: []string{"f"},
			Usage: "answer the statements in `FILE`; a line -- name: NAME in front of one names its answer"},
		&cli.BoolFlag{Name: "explain", Usage: "show what would be read and where each step would be computed, and read nothing"},
		&cli.BoolFlag{Name: "check", Usage: "only check the statements, and show the columns of their answers"},
		&cli.BoolFlag{Name: "csv", Usage: "print the answer as CSV"},
	)
}

func (x *command) sql(c *cli.Context) error {
	if c.NArg() == 0 && !c.IsSet(FlagQuestions) && x.Events == nil {
		if in, out := x.terminals(); in != nil {
			return x.promptSQL(c, in, out)
		}
	}
	text, err := x.sqlText(c)
	if err != nil {
		return err
	}
	return withSQL(x.Call, c, text, asking{}, func(r *sqlRequest) error {
		switch {
		case c.Bool("explain"):
			return explainSQL(c.Context, x.Call, r)
		case c.Bool("check"):
			return checkSQL(x.Call, r)
		case !r.script.NeedsCluster():
			return answerSQL(x.Call, c.Context, r, nil)
		}
		limit, err := run.Limit(c)
		if err != nil {
			return err
		}
		if bytes, known := r.script.Reads(c.Context); known && bytes <= limit {
			return run.InProcess(x.Call, c.Context, r.Request, func(ctx context.Context, show *display.Progress) error {
				return answerSQL(x.Call, ctx, r, show)
			})
		}
		return run.Privately(x.Call, c, r.Request, func(ctx context.Context, t *topology.Topology, keys *security.Keys,
			show *display.Progress) error {
			r.Cfg.Keys, r.Cfg.Entries, r.Cluster = keys, reach.EntryPoints(t, keys != nil), t
			r.Out.Html.On(t, keys, true)
			return answerSQL(x.Call, ctx, r, show)
		})
	})
}

// withSQL reads statements and calls do to answer them. --timeout counts from here, for all statements together.
func withSQL(x *call.Call, c *cli.Context, text string, how asking, do func(*sqlRequest) error) (err error) {
	ctx, cancel := upload.Limited(c.Context, c.Duration(call.FlagTimeout))
	defer cancel()
	c.Context = ctx
	how.json, how.csv = c.Bool(call.FlagJSON), c.Bool("csv")
	r, err := readSQL(x, c.Context, c, text, how)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, n := range r.script.Unused() {
		x.Notef("warning: no statement reads a table %s, which --file %s=%s names", display.Escape(n.As), display.Escape(n.As),
			display.Escape(shownPath(n.Path)))
	}
	return do(r)
}

// sqlText returns the statements: the argument, or what a file holds.
func (x *command) sqlText(c *cli.Context) (string, error) {
	file := c.String(FlagQuestions)
	switch {
	case c.NArg() > 1:
		return "", exit.Usagef("sql: there are %d arguments; give the statement as one, in quotes", c.NArg())
	case c.NArg() == 1 && file != "":
		return "", exit.Usagef("sql: a statement and --%s %s exclude each other; give one of the two", FlagQuestions, file)
	case c.NArg() == 1:
		return c.Args().First(), nil
	case file == "":
		return "", exit.Usagef("sql: which statement? Like posta sql --data DIR 'SELECT count(*) FROM trips', or --questions - for standard " +
			"input; a prompt needs a terminal")
	}
	return readText(x.Call, file)
}
