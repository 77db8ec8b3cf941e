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

// whose says about which sessions a client may make a request.
type whose int

const (
	nobodys whose = iota
	own           // of the sessions that the client's name owns
	everybodys
)

// rights says which role may make which request (S5). A session belongs to its owner by name. Its token tells the owner's processes apart
// (R17) and is checked separately. Only the owner may send data to a session: an operator may end sessions of others but not add to them.
var rights = map[protocol.RequestType]struct{ watch, submit, operate whose }{
	protocol.Info:     {everybodys, everybodys, everybodys},
	protocol.Sessions: {everybodys, own, everybodys},
	protocol.Ping:     {everybodys, own, everybodys}, // a ping of another client's session shows its state but does not keep it alive
	protocol.Results:  {own, own, everybodys},
	protocol.Open:     {nobodys, own, own},
	protocol.Chunk:    {nobodys, own, own},
	protocol.Read:     {nobodys, own, own},
	protocol.End:      {nobodys, own, own},
	protocol.Cancel:   {nobodys, own, everybodys},
	protocol.Close:    {nobodys, own, everybodys},
	protocol.Hold:     {nobodys, nobodys, everybodys},
}

// rightsOf returns for which sessions a role may make a request. An input asks another input what posta deploy needs: to list the running
// sessions, to let no more begin, and to end them. None of these requests shows or changes a row.
func rightsOf(r security.Role, ask protocol.RequestType) whose {
	switch r {
	case security.Watch:
		return rights[ask].watch
	case security.Submit:
		return rights[ask].submit
	case security.Operate:
		return rights[ask].operate
	case security.Node: // an input that asks an input
		switch ask {
		case protocol.Sessions, protocol.Hold, protocol.Cancel:
			return everybodys
		}
	case security.Medic: // it serves the console; of statements it sees the outline, because it may read no answer
		switch ask {
		case protocol.Info, protocol.Sessions:
			return everybodys
		}
	}
	return nobodys
}

// needs returns the least role that may make the request for its own sessions.
func needs(ask protocol.RequestType) security.Role {
	for _, r := range []security.Role{security.Watch, security.Submit} {
		if rightsOf(r, ask) != nobodys {
			return r
		}
	}
	return security.Operate
}

// Permits reports whether a client's role may make such a request at all. If not, Permits sends the refusal.
func (b *Base) Permits(r *role.Request, ask protocol.RequestType) bool {
	if rightsOf(r.Client.Role, ask) != nobodys {
		return true
	}
	b.Reply(r.From, protocol.Refuse(protocol.ErrForbidden, fmt.Sprintf(
		"client %q has the role %q, and `%s` needs the role %q: the operator of cluster %s gives roles in [clients] of its topology",
		r.Client.Name, cmp.Or(r.Client.Role, "none"), ask, needs(ask), b.About.Cluster)))
	return false
}

// Holder identifies the client to whom a session belongs.
type Holder struct {
	Owner string // the client's name (S5); empty: the local operator's
	// by their tokens (R17); empty: the node has only heard that the session failed, and Owner is set only if a client has claimed it
	Openers session.Openers
}

// unknown reports whether the node has not heard to whom the session belongs.
func (h *Holder) unknown() bool { return len(h.Openers) == 0 && h.Owner == "" }

// Claimed reports whether the node knows only that a client, Owner, says that it has lost the session. Such a claim
// says nothing about another owner's session with the same id.
func (h *Holder) Claimed() bool { return len(h.Openers) == 0 && h.Owner != "" }

// Shows reports whether a session exists for a client and its request. If not, the client gets the same answer as for an unknown session:
// it must not even learn that another client's session exists. A session without a known owner is a failure reported by a node that had not
// seen the session. The failure names nodes and frames but no row, so every client may read it.
func (h *Holder) Shows(to security.Identity, ask protocol.RequestType) bool {
	switch rightsOf(to.Role, ask) {
	case everybodys:
		return true
	case own:
		return to.Name == h.Owner || h.unknown() && (ask == protocol.Results || ask == protocol.Ping || ask == protocol.Open)
	}
	return false
}

// Asks returns the statement that a list of sessions shows to a client. A client that may read the answer sees the full statement, as the
// answer shows its values anyway. Any other client sees the outline.
func (h *Holder) Asks(to security.Identity, asks, outline string) string {
	if h.Shows(to, protocol.Results) {
		return asks
	}
	return outline
}

// Tells returns what a client is told about an outcome. Reasons and fields quote rows, literals and names of files, so only a client that
// may read the answer gets them. Any other client gets the code.
func (h *Holder) Tells(to security.Identity, o Outcome) Outcome {
	if o.Failed() && !h.Shows(to, protocol.Results) {
		o.Fields, o.Reason = nil, fmt.Sprintf("the session failed (%s); only its owner and operators are told why", o.Code)
	}
	return o
}

// LetsAct reports whether a client may change a session with its request: the session's opener may (R17), and so may
// its owner or an operator that shows no token.
func (h *Holder) LetsAct(by role.Asker, ask protocol.RequestType) bool {
	return h.Shows(by.Identity, ask) && (by.Token == session.TokenHash{} || by.Token == h.Openers.Now())
}

// OpenedBy reports whether a client is the opener: its name is the owner's, and its token is that of the last opener.
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

// Taken refuses an open whose id belongs to another owner. It does not say to whom the session belongs or what
// happened to it: this client must not know.
func Taken(id session.ID) protocol.Reply {
	return protocol.Refuse(protocol.ErrInUse, fmt.Sprintf("session id %s is taken: choose another one", id))
}
