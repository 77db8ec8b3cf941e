package consoles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
)

// ofPerson prepares the console of the user of this command.
func (x *command) ofPerson(c *cli.Context) (*host, error) {
	if _, err := console.Address(x.listen); errors.Is(err, console.ErrExposed) {
		return nil, exit.Usagef("console: --listen %v; give one like 127.0.0.1:8080, and reach it from elsewhere with "+
			"ssh -L 8080:127.0.0.1:8080 HOST", err)
	} else if err != nil {
		return nil, exit.Usagef("console: --listen %v", err)
	}
	token, err := scrapeToken(x.token)
	if err != nil {
		return nil, err
	}
	t, err := reach.LoadTopology(c)
	if err != nil {
		return nil, err
	}
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return nil, err
	}
	from := reach.Entrance{At: reach.EntryPoints(t, keys != nil), Keys: keys}
	h := &host{
		topology: t, keys: keys, at: x.listen, taken: "name another port with --listen, or 127.0.0.1:0 for any that is free",
		cfg:     console.Config{ScrapeToken: token, Announce: func(link string) { x.Printf("%s\n", link) }},
		cluster: reach.AskConfig(c, from, session.ID{}), from: &from,
		breaks: !x.watch && (keys == nil || reach.RoleOf(t, keys) == security.Operate),
		end:    func() {},
	}
	if t.Medics.Console != "" {
		h.taken = "medics serve a console, and posta console --login prints a link to it; or name another port with --listen"
	}
	h.refused = func(refused error) []string {
		if refused == nil {
			return nil
		}
		return []string{reach.ExplainRefused(t, keys, refused)}
	}
	h.heard = func(ctx context.Context, l *listeners) error { return x.waitForRates(c, h, l) }
	return h, nil
}

// waitForRates waits a little, so that the first page shows rates. A console that hears no node because none lets it listen is of use only
// if it answers statements.
func (x *command) waitForRates(c *cli.Context, h *host, l *listeners) error {
	soon, cancel := context.WithTimeout(c.Context, monitor.LookAtMost)
	defer cancel()
	if _, err := l.nodes.Until(soon, monitor.HeardEnough); c.Context.Err() != nil {
		return err
	}
	refused := h.refused(l.refused())
	if refused == nil || slices.ContainsFunc(l.nodes.View(), func(s monitor.Status) bool { return s.Heard }) {
		return nil
	}
	if c.String(call.FlagData) == "" && len(c.StringSlice(call.FlagFile)) == 0 {
		return fmt.Errorf("%w: %s; or name another key with --%s DIR or POSTA_KEY", exit.ErrNothingAnswers, refused[0], call.FlagKey)
	}
	x.Notef("warning: the pages show no nodes: %s", refused[0])
	return nil
}
