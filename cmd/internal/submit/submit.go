package submit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/ask"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deliver"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/protocol/session"
)

// command is posta submit.
type command struct {
	*call.Call
}

// Command returns posta submit.
func Command(base *call.Call) *cli.Command {
	x := &command{Call: base}
	return &cli.Command{
		Name: "submit", ArgsUsage: "ANALYSIS",
		Usage: "run an analysis on a running cluster and print the answers",
		Description: `   posta submit bikes --data data/bikes
   posta submit bikes --data data/bikes --entry tcp://10.0.0.5:5502 \
         --json > answers.json
   posta submit questions.sql --data DIR --json
   posta submit questions.sql --data DIR --journal FILE
   posta submit questions.sql --data DIR --resume FILE
   id=$(posta submit bikes --data data/bikes --detach) && posta results $id
   posta submit bikes --data data/bikes --resume ID

Waits while the cluster is busy. Ctrl-C cancels the session. A session whose client died waits for limits.client_timeout: --resume ID continues with it,
with the same analysis, parameters and files, from any machine. posta sessions lists the ids. A file of statements needs several sessions: --journal FILE
notes what they have answered, and --resume FILE continues.

` + exit.Help,
		Flags: append(upload.UploadFlags(), call.TopologyFlag(), call.EntryFlag(), call.KeyFlag(),
			&cli.BoolFlag{Name: "detach", Aliases: []string{"d"},
				Usage: "print the session's id when all is sent; fetch the answers with posta results ID"},
			&cli.BoolFlag{Name: "keep-results", Usage: "leave the answers with the cluster for limits.results_ttl"},
			&cli.BoolFlag{Name: "no-wait", Usage: "fail when the cluster is busy"},
			&cli.StringFlag{Name: "session", Usage: "the session's `ID`, a UUID (default: a new one)"},
			call.ResumeFlag(), ask.JournalFlag(),
			reach.PatienceFlag()),
		Action: x.WithEvents(x.submit),
	}
}

func (x *command) submit(c *cli.Context) error {
	if strings.HasSuffix(c.Args().First(), ".sql") && c.NArg() == 1 {
		return ask.SubmitSQL(x.Call, c)
	}
	if c.IsSet(ask.FlagJournal) {
		return exit.Usagef("submit: --journal is for a file of statements; an analysis has one session, which --resume ID continues without it")
	}
	r, err := upload.ReadRequest(x.Call, c)
	if err != nil {
		return err
	}
	defer r.Limit(c)()
	if c.Bool("detach") && (r.Out.Somewhere() || r.Out.Html != nil) {
		return exit.Usagef("submit: --out, --to and --html need the answers, and --detach does not wait for them; give it to posta results ID")
	}
	from, err := reach.Entries(x.Call, c)
	if err != nil {
		return err
	}
	r.Cfg.Entries, r.Cfg.Keys = from.At, from.Keys
	if err := x.readSession(c, r); err != nil {
		return err
	}
	r.Cfg.NoWait, r.Cfg.KeepResults = c.Bool("no-wait"), c.Bool("keep-results")
	r.Cfg.GiveUpAfter, r.Stays = c.Duration("patience"), true
	if err := reach.CheckAnswers(x.Call, c, from); err != nil {
		return err
	}
	if err := deliver.ReportOn(x.Call, c, r.Out.Html, from); err != nil {
		return err
	}
	if len(c.StringSlice(call.FlagEntry)) == 0 { // with --entry, no topology names a broker
		t, err := reach.LoadTopology(c)
		if err == nil {
			r.Cluster, err = t, reach.CheckBrokerOfCluster(x.Call, c.Context, t)
		}
		if err != nil {
			return err
		}
	}
	var opened session.ID
	r.Cfg.OnOpened = func(id session.ID) { opened = id }
	if c.Bool("detach") {
		err = x.detach(c.Context, r)
	} else {
		err = upload.Upload(x.Call, c.Context, r, x.NewProgress())
	}
	if there, err := x.isThere(c, r, err); there {
		return err
	}
	x.sayHow(c, opened, err)
	return err
}

// detach sends everything and ends without waiting for the answers.
func (x *command) detach(ctx context.Context, r *upload.Request) (err error) {
	show := x.NewProgress()
	r.Cfg.OnWarning, r.Cfg.OnNote = upload.WarnInput(show.Say), r.NoteInput(show.Say)
	cl, err := client.Dial(ctx, r.Cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	err = send(ctx, cl, func() {
		if !r.Quiet {
			show.Update(cl.Progress())
		}
	})
	show.Done()
	if err == nil {
		err = r.Inspector.Close()
	}
	switch {
	case err != nil && client.LeavesOurs(err):
		return errors.Join(err, cl.Cancel(ctx))
	case err != nil:
		return err
	}
	x.printSession(r, cl.Session())
	return nil
}

func (x *command) printSession(r *upload.Request, id session.ID) {
	if r.Out.Json {
		x.Printf("{\"session\": %q}\n", id.String())
	} else {
		x.Printf("%s\n", id)
	}
}

// send uploads everything and shows progress from time to time.
func send(ctx context.Context, cl *client.Client, show func()) error {
	if err := cl.Open(ctx); err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() { sent <- cl.Upload(ctx) }()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			show()
		case err := <-sent:
			return err
		}
	}
}
