package cmd

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

const flagResume = "resume"

func resumeFlag() cli.Flag {
	return &cli.StringFlag{Name: flagResume, Usage: "continue the session `ID`, whose client is gone, with the same files, from any " +
		"machine. What the cluster has taken is compared and not sent again. For a file of statements, the file that --journal named"}
}

// readSession reads --session and --resume.
func (x *command) readSession(c *cli.Context, r *request) (err error) {
	id, resumed := c.String("session"), c.String(flagResume)
	switch {
	case c.IsSet(flagResume) && c.IsSet("session"):
		return exit.Usagef("submit: --resume names the session; leave --session out")
	case c.IsSet(flagResume):
		r.cfg.Resume = true
		r.cfg.Session, err = session.Parse(resumed)
	case id != "":
		r.cfg.Session, err = session.Parse(id)
	}
	return err
}

// IsThere handles --resume for a session that is over: it prints the answers that the cluster has, and reports whether it did.
func (x *command) isThere(c *cli.Context, r *request, err error) (bool, error) {
	if !r.cfg.Resume || !errors.Is(err, protocol.ErrFinished) {
		return false, err
	}
	if c.Bool("detach") {
		x.printSession(r, r.cfg.Session)
		return true, nil
	}
	if !r.quiet {
		x.Notef("session %s is finished: its answers are fetched", r.cfg.Session)
	}
	return true, x.fetchResults(c, client.Config{Entries: r.cfg.Entries, Keys: r.cfg.Keys, Session: r.cfg.Session, Force: true,
		Keep: r.out.keep(), GiveUpAfter: r.cfg.GiveUpAfter},
		r.out, r.fetch)
}

// sayHow prints how to resume a session that has outlived its client.
func (x *command) sayHow(c *cli.Context, r *request, id session.ID, err error) {
	switch {
	case id == (session.ID{}):
	case errors.Is(err, client.ErrOtherFiles) && errors.Is(err, client.ErrNotResumed):
		x.Notef("session %s is as it was, and waits for limits.client_timeout at most: resume it with the files that were sent", id)
	case errors.Is(err, client.ErrNoCluster), errors.Is(err, client.ErrNotResumed):
		x.Notef("session %s waits for its client, for limits.client_timeout at most; continue with it: %s", id, x.resumes(c, id))
	}
}

// resumes returns the command that resumes a session: the present command line with --resume.
func (x *command) resumes(c *cli.Context, id session.ID) string {
	words := []string{"posta", c.Command.Name}
	skip := false
	for _, arg := range x.Arguments {
		name, _, hasValue := strings.Cut(arg, "=")
		switch {
		case skip:
			skip = false
		case name == "--session" || name == "-session" || name == "--"+flagResume || name == "-"+flagResume:
			skip = !hasValue
		default:
			words = append(words, quoted(arg))
		}
	}
	return strings.Join(append(words, "--"+flagResume, id.String()), " ")
}

// quoted quotes a word for a shell.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/.,:@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
