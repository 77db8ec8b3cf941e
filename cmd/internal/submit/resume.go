package submit

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/sessions"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// readSession reads --session and --resume.
func (x *command) readSession(c *cli.Context, r *upload.Request) (err error) {
	id, resumed := c.String("session"), c.String(call.FlagResume)
	switch {
	case c.IsSet(call.FlagResume) && c.IsSet("session"):
		return exit.Usagef("submit: --resume names the session; leave --session out")
	case c.IsSet(call.FlagResume):
		r.Cfg.Resume = true
		r.Cfg.Session, err = session.Parse(resumed)
	case id != "":
		r.Cfg.Session, err = session.Parse(id)
	}
	return err
}

// IsThere handles --resume for a session that is over: it prints the answers that the cluster has, and reports whether it did.
func (x *command) isThere(c *cli.Context, r *upload.Request, err error) (bool, error) {
	if !r.Cfg.Resume || !errors.Is(err, protocol.ErrFinished) {
		return false, err
	}
	if c.Bool("detach") {
		x.printSession(r, r.Cfg.Session)
		return true, nil
	}
	if !r.Quiet {
		x.Notef("session %s is finished: its answers are fetched", r.Cfg.Session)
	}
	return true, sessions.FetchResults(x.Call, c, client.Config{Entries: r.Cfg.Entries, Keys: r.Cfg.Keys, Session: r.Cfg.Session, Force: true,
		Keep: r.Out.Keep(), GiveUpAfter: r.Cfg.GiveUpAfter},
		r.Out, r.Fetch)
}

// sayHow prints how to resume a session that has outlived its client.
func (x *command) sayHow(c *cli.Context, id session.ID, err error) {
	switch {
	case id == (session.ID{}):
	case errors.Is(err, client.ErrOtherFiles) && errors.Is(err, client.ErrNotResumed):
		x.Notef("session %s is unchanged, and waits for at most limits.client_timeout: resume it with the files that were sent", id)
	case errors.Is(err, client.ErrNoCluster), errors.Is(err, client.ErrNotResumed):
		x.Notef("session %s waits at most limits.client_timeout for its client; continue it with: %s", id, resumes(x.Call, c, id))
	}
}

// resumes returns the command that resumes a session: the present command line with --resume.
func resumes(x *call.Call, c *cli.Context, id session.ID) string {
	words := []string{"posta", c.Command.Name}
	skip := false
	for _, arg := range x.Arguments {
		name, _, hasValue := strings.Cut(arg, "=")
		switch {
		case skip:
			skip = false
		case name == "--session" || name == "-session" || name == "--"+call.FlagResume || name == "-"+call.FlagResume:
			skip = !hasValue
		default:
			words = append(words, display.Quoted(arg))
		}
	}
	return strings.Join(append(words, "--"+call.FlagResume, id.String()), " ")
}
