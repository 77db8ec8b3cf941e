package security

import (
	"fmt"
	"strings"

	"posta.dev/posta/internal/lazy"
)

// Role is what a process is in the cluster, and for clients what they may do.
type Role string

const (
	Node    Role = "node"
	Medic   Role = "medic"
	Submit  Role = "submit"  // a client that runs its own sessions
	Watch   Role = "watch"   // a client that reads status and metrics
	Operate Role = "operate" // a client that may do everything
	// Client is what the certificate of each client says. Verify never returns it: it returns the role that [clients] gives to the key.
	Client Role = "client"
)

// Identity is a name with its role. Names of different roles are independent of each other.
type Identity struct {
	Role Role
	Name string
}

// nameForm is the form of all names, also of those of clusters. No character of it needs an escape in a URI, a file name or a line of a
// log.
var nameForm = lazy.Regexp(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// ValidName returns an error that says what is wrong with the name of a cluster, a process or a client.
func ValidName(name string) error {
	if !nameForm().MatchString(name) {
		return fmt.Errorf("security: %.80q is not a name: write 1 to 63 of a-z, 0-9 and -, with no - at either end", name)
	}
	return nil
}

// ParseClientRole reads the role of a client as [clients] has it.
func ParseClientRole(s string) (Role, error) {
	switch r := Role(s); r {
	case Submit, Watch, Operate:
		return r, nil
	}
	return "", fmt.Errorf("security: %.80q is not a role of a client: write submit, watch or operate", s)
}

// ParseIdentity is the reverse of Identity.String.
func ParseIdentity(s string) (Identity, error) {
	role, name, _ := strings.Cut(s, "/")
	switch id := (Identity{Role: Role(role), Name: name}); id.Role {
	case Node, Medic, Submit, Watch, Operate, Client:
		return id, ValidName(name)
	}
	return Identity{}, fmt.Errorf(
		"security: %.80q is not an identity: write ROLE/NAME with the role node, medic, submit, watch, operate or client", s)
}

// String is ROLE/NAME. zmqx carries it as the name of a peer.
func (id Identity) String() string { return string(id.Role) + "/" + id.Name }

// certified returns the identity as a certificate states it, which does not say what a client may do.
func (id Identity) certified() Identity {
	switch id.Role {
	case Submit, Watch, Operate:
		id.Role = Client
	}
	return id
}

const scheme = "posta://"

// uri returns the name that the certificate of id has: posta://CLUSTER/ROLE/NAME.
func (id Identity) uri(cluster string) string {
	return scheme + cluster + "/" + id.certified().String()
}

// parseURI reads the name of a certificate. It accepts what uri writes and nothing else: the characters that names may have exclude users,
// ports, queries, fragments and escapes.
func parseURI(s string) (cluster string, id Identity, err error) {
	rest, ok := strings.CutPrefix(s, scheme)
	cluster, text, _ := strings.Cut(rest, "/")
	if !ok || ValidName(cluster) != nil {
		return "", Identity{}, fmt.Errorf("the name %.200q is not posta://CLUSTER/ROLE/NAME", s)
	}
	id, err = ParseIdentity(text)
	if err != nil || id != id.certified() {
		return "", Identity{}, fmt.Errorf("the name %.200q is not posta://CLUSTER/ROLE/NAME with the role node, medic or client", s)
	}
	return cluster, id, nil
}
