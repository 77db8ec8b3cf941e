package logs

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/wal"
)

// command is posta log.
type command struct {
	*call.Call
	json bool
	most int // bytes of a record that are shown
}

// Command returns posta log.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	dir := "DIR is a node's data directory, like cluster/joiner-1.\n\n" + exit.Help
	return &cli.Command{
		Name: "log", Usage: "look at a node's write-ahead log, and repair it",
		Description: exit.Help,
		Subcommands: []*cli.Command{
			{Name: "verify", ArgsUsage: "DIR", Usage: "read all of a log and say whether it is sound; changes nothing",
				Description: "A second reader, the library of the format, reads a copy of each segment; DIFFERS says where it reads other frames. " +
					dir,
				Flags: []cli.Flag{call.JSONFlag(&x.json)}, Action: x.logVerify},
			{Name: "dump", ArgsUsage: "DIR", Usage: "print a line for each record; changes nothing", Description: dir,
				Flags: []cli.Flag{call.JSONFlag(&x.json),
					&cli.IntFlag{Name: "bytes", Destination: &x.most, Value: 16,
						Usage: "how many bytes of each record are shown; -1 for all"}}, Action: x.logDump},
			{Name: "repair", ArgsUsage: "DIR", Usage: "cut a damaged log before the damage, so that its node starts again",
				Description: "The part that is cut off is kept in DIR/cut. The log gets a new id, so that sessions with frames in flight fail and " +
					"give no wrong answer.\n" +
					"A sound log is left as it is. " + dir,
				Flags: []cli.Flag{call.JSONFlag(&x.json)}, Action: x.logRepair},
		},
	}
}

// logDir returns the directory that was given, and refuses one without a log: a typing mistake must not look like an empty log.
func logDir(c *cli.Context) (string, error) {
	dir, err := call.OneArgument(c, "directory", "cluster/joiner-1")
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", fmt.Errorf("log %s: %w; give a node's data directory, like cluster/joiner-1", c.Command.Name, err)
	case !info.IsDir():
		return "", exit.Usagef("log %s: %s is a file; give a node's data directory, like cluster/joiner-1", c.Command.Name, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "segments")); errors.Is(err, fs.ErrNotExist) {
		return "", exit.Usagef("log %s: %s holds no log; give a node's data directory, like cluster/joiner-1", c.Command.Name, dir)
	}
	return dir, nil
}

// errDamaged is the outcome of a log that is not sound.
var errDamaged = errors.New("the log is damaged")

// errDisagree is the outcome of a log that the two readers read differently.
var errDisagree = errors.New("two readers of the log disagree")

func (x *command) logVerify(c *cli.Context) error {
	dir, err := logDir(c)
	if err != nil {
		return err
	}
	report, err := wal.Verify(dir)
	if err != nil {
		return err
	}
	if err := x.printReport(report, x.json); err != nil {
		return err
	}
	if len(report.Differs) > 0 {
		x.Notef("posta: two readers of the log disagree, which is a defect of Posta: keep a copy of %s, and report it", dir)
		return exit.Said(errDisagree)
	}
	if !report.OK() {
		x.Notef("posta: %s; posta log repair %s cuts it before the damage", errDamaged, dir)
		return exit.Said(errDamaged)
	}
	return nil
}

func (x *command) logRepair(c *cli.Context) error {
	dir, err := logDir(c)
	if err != nil {
		return err
	}
	report, err := wal.Repair(dir)
	if err != nil {
		return err
	}
	return x.printReport(report, x.json)
}

func (x *command) printReport(r wal.Report, asJSON bool) error {
	if !asJSON {
		x.Printf("%s", r)
		return nil
	}
	return x.PrintJSON(reportAsJSON(r))
}

func (x *command) logDump(c *cli.Context) error {
	dir, err := logDir(c)
	if err != nil {
		return err
	}
	most := x.most
	print := func(r wal.DumpRecord) error {
		x.Printf("%d\ttype %d\tappend %d\t%s+%d\t%d bytes\t%s\n", r.Index, r.Type, r.Append, r.File, r.Offset, len(r.Data), shown(r.Data, most))
		return c.Context.Err()
	}
	if x.json {
		e := json.NewEncoder(x.Out)
		print = func(r wal.DumpRecord) error {
			return errors.Join(c.Context.Err(), e.Encode(RecordJSON{uint64(r.Index), int(r.Type), uint64(r.Append), r.File, r.Offset, len(r.Data),
				shown(r.Data, most)}))
		}
	}
	return wal.Dump(dir, print)
}

// RecordJSON is a record in `posta log dump --json`, one line each.
type RecordJSON struct {
	Index  uint64 `json:"index"`
	Type   int    `json:"type"`
	Append uint64 `json:"append"` // the first record of the append that wrote it
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Size   int    `json:"size"`
	Data   string `json:"data"` // hexadecimal, the first bytes
}

// shown returns the first bytes in hexadecimal: most of them, or all if most is negative.
func shown(b []byte, most int) string {
	if most >= 0 && len(b) > most {
		return hex.EncodeToString(b[:most]) + "…"
	}
	return hex.EncodeToString(b)
}
