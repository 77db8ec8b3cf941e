package consoles

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/console"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

// printLink prints a link to the console of the first medic that answers.
func (x *command) printLink(c *cli.Context) error {
	t, err := reach.LoadTopology(c)
	if err != nil {
		return err
	}
	if t.Medics.Console == "" {
		return exit.Usagef("console --login: the medics of %s serve no console: write console = \"127.0.0.1:8080\" below [medics], then run "+
			"posta down and posta up; or start one with posta console", t.File)
	}
	trust, proof, err := x.proof(c, t)
	if err != nil {
		return err
	}
	var wrong []error
	for _, m := range t.MedicNodes() {
		link, err := console.Login(c.Context, t.ConsoleAddress(m), trust, proof)
		if err == nil {
			x.Notef("open the link in a browser on this machine within a minute; it works once, and lets the browser in for 12 hours")
			x.Printf("%s\n", link)
			return nil
		}
		if wrong = append(wrong, err); errors.Is(err, console.ErrRefused) {
			break // the other medics would give the same answer
		}
	}
	return fmt.Errorf("no console lets this user in: %w; posta status shows which medics are there", errors.Join(wrong...))
}

// proof returns how the user of this command recognises a console, and how the user proves its identity.
func (x *command) proof(c *cli.Context, t *topology.Topology) (console.Trust, console.Proof, error) {
	keys, err := reach.ClientKeys(x.Call, c, t)
	if err != nil {
		return nil, nil, err
	}
	if keys != nil {
		return console.WithKeys(keys), console.ProofByKey(keys), nil
	}
	secret, err := console.ReadSecret(t)
	if err != nil {
		return nil, nil, err
	}
	return console.WithSecret(secret), console.ProofBySecret(secret), nil
}
