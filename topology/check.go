package topology

import (
	"fmt"

	"posta.dev/posta/internal/lazy"
)

// checker checks a decoded file. It checks nothing twice. It checks nothing about a setting that could not be read: the zero value of such
// a setting takes part in no rule.
type checker struct {
	t       *Topology
	found   *findings
	at      places
	invalid map[string]bool
}

func (c *checker) all() {
	c.cluster()
	c.hosts()
	c.stages()
	c.edges()
	c.sockets()
	c.console()
	c.limits()
	c.broker()
	c.clients()
}

// fail reports a mistake at the place of a setting, or at its section if the setting was left out.
func (c *checker) fail(path, instead, what string, args ...any) {
	c.found.add(c.at.of(path), fmt.Sprintf(what, args...), instead)
}

// Names become file names, DNS names, log fields and parts of each other. A name of this form needs no quoting in any of them.
var nameForm = lazy.Regexp(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

const nameRule = "write 1 to 32 of a-z, 0-9 and -, with no - at either end"

func (c *checker) cluster() {
	if !c.invalid["cluster.name"] && !nameForm().MatchString(c.t.Name) {
		c.fail("cluster.name", nameRule, "name = %q is not a name", c.t.Name)
	}
	if !c.invalid["cluster.data"] && c.t.data == "" {
		c.fail("cluster.data", `write a directory, such as data = "cluster"`, "data is empty")
	}
}
