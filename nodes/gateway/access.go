package gateway

import (
	"cmp"
	"fmt"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
)

// whose says of which sessions a client may ask something.
type whose int

const (
	nobodys whose = iota
	own           // of those that the client's name owns
	everybodys
)

// rights says who may do what (S5). A session is its owner's by name; its token tells the owner's processes apart (R17) and is asked for
// beside this table. To feed a session is for its owner alone: an operator may end what others run, and never add to it.
var rights = map[protocol.RequestType]struct{ watch, submit, operate whose }{
	protocol.Info:     {everybodys, everybodys, everybodys},
	protocol.Sessions: {everybodys, own, everybodys},
	protocol.Ping:     {everybodys, own, everybodys}, // of those that are not its own a client hears the state, and keeps none of them alive
	protocol.Results:  {own, own, everybodys},
	protocol.Open:     {nobodys, own, own},
	protocol.Chunk:    {nobodys, own, own},
	protocol.End:      {nobodys, own, own},
	protocol.Cancel:   {nobodys, own, everybodys},
	protocol.Close:    {nobodys, own, everybodys},
	protocol.Hold:     {nobodys, nobodys, everybodys},
}

// rightsOf is what a role may ask. An input asks another one what posta deploy has to know and to do: which sessions run, that no more begin, and that
// they end. Nothing of it shows or changes a row.
func rightsOf(r security.Role, ask protocol.RequestType) whose {
	switch r {
	case security.Watch:
		return rights[ask].watch
	case security.Submit:
		return rights[ask].submit
	case security.Operate:
		return rights[ask].operate
	case security.Node: // an input, at an input
		switch ask {
		case protocol.Sessions, protocol.Hold, protocol.Cancel:
			return everybodys
		}
	}
	return nobodys
}

// needs names the least role that may ask something of its own sessions.
func needs(ask protocol.RequestType) security.Role {
	for _, r := range []security.Role{security.Watch, security.Submit} {
		if rightsOf(r, ask) != nobodys {
			return r
		}
	}
	return security.Operate
}

// Permits reports whether a client's role lets it make such a request at all, and answers it if not.
func (b *Base) Permits(r *role.Request, ask protocol.RequestType) bool {
	if rightsOf(r.Client.Role, ask) != nobodys {
		return true
	}
	b.Reply(r.From, protocol.Refuse(protocol.ErrForbidden, fmt.Sprintf(
		"client %q has the role %q, and `%s` needs the role %q: who runs cluster %s gives roles in [clients] of its topology",
		r.Client.Name, cmp.Or(r.Client.Role, "none"), ask, needs(ask), b.About.Cluster)))
	return false
}

// Holder is whose a session is.
type Holder struct {
	Owner   string          // the client's name (S5); empty: the local operator's
	Openers session.Openers // by their tokens (R17); none: the node has only heard that it failed, and knows the owner if a client has claimed it
}

// unknown reports whether nobody has told whose the session is.
func (h *Holder) unknown() bool { return len(h.Openers) == 0 && h.Owner == "" }

// Claimed reports whether all that is known of the session is that a client of this name says it has lost it. That is no word about the
// session of another owner that has the id.
func (h *Holder) Claimed() bool { return len(h.Openers) == 0 && h.Owner != "" }

// Shows reports whether a session exists for a client that asks something of it. One that does not is answered as if the node had never heard
// of it: a client learns nothing of what is not its own, not even that it is there. What nobody knows the owner of is a failure that a
// node has told which had not seen the session: it names nodes and frames and no row, so anybody may read it.
func (h *Holder) Shows(to security.Identity, ask protocol.RequestType) bool {
	switch rightsOf(to.Role, ask) {
	case everybodys:
		return true
	case own:
		return to.Name == h.Owner || h.unknown() && (ask == protocol.Results || ask == protocol.Ping || ask == protocol.Open)
	}
	return false
}

// LetsAct reports whether a request changes a session: its opener's does (R17), and that of its owner or an operator that shows no token.
func (h *Holder) LetsAct(by role.Asker, ask protocol.RequestType) bool {
	return h.Shows(by.Identity, ask) && (by.Token == session.TokenHash{} || by.Token == h.Openers.Now())
}

// OpenedBy reports whether a client is the opener: its name is the owner's and its token the last opener's.
func (h *Holder) OpenedBy(by role.Asker) bool {
	return by.Name == h.Owner && by.Token == h.Openers.Now()
}

// Append appends a holder as two values of an array.
func (h *Holder) Append(b []byte) []byte {
	return wire.AppendString(wire.AppendBin(b, h.Openers.Append(nil)), h.Owner)
}

// ReadHolder reads what Append wrote.
func ReadHolder(d *wire.Reader) (h Holder) {
	var ok bool
	if h.Openers, ok = session.ReadOpeners(d.Bytes()); !ok {
		d.Fail("openers that are none")
	}
	h.Owner = d.String()
	return h
}

// Taken refuses an open whose id belongs to another owner. It says no more than that: whose the session is, and what became of it, is not for
// this client to know.
func Taken(id session.ID) protocol.Reply {
	return protocol.Refuse(protocol.ErrInUse, fmt.Sprintf("session id %s is taken: choose another one", id))
}
