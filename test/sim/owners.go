package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// In some seeds clients have names and roles (S5). Several run sessions under one name. Meanwhile other clients ask for
// sessions that are not theirs: they ask for answers, lists and states, and try to feed, take over, cancel or close the
// session, with its token or without. The replies are checked here. That their requests have no effect shows in the
// session itself: it ends as if nobody had asked.

// people are the clients of such a seed. Those that may submit run sessions.
var people = []security.Identity{
	{Role: security.Submit, Name: "ann"}, {Role: security.Submit, Name: "bob"}, {Role: security.Operate, Name: "olga"},
	{Role: security.Watch, Name: "wim"},
}

// asks returns the clients whose answers are compared when the run is over.
func (w *world) asks() []security.Identity {
	if w.faults.owners == nil {
		return []security.Identity{role.LocalOperator}
	}
	return people
}

// ruleOfAnswers returns the rule that is violated when a node that came back gives other answers.
func ruleOfAnswers(who security.Identity) string {
	if who == role.LocalOperator {
		return "N3"
	}
	return "S5"
}

// runner draws the name of the client that runs a session.
func (f *faults) runner() security.Identity {
	if f.owners == nil {
		return role.LocalOperator
	}
	who := people[f.owners.IntN(3)]
	if f.sharedMemory > 0 && f.owners.IntN(2) == 0 {
		return people[0] // the greedy one
	}
	return who
}

// canceller draws the name of a client that cancels another client's session.
func (c *client) canceller() security.Identity {
	if r := c.w.faults.owners; r != nil && r.IntN(2) == 0 {
		return people[2]
	}
	return c.who
}

// intruder is one request of a client about another client's session.
type intruder struct {
	of  *client
	who security.Identity
	to  *node
	q   protocol.Request
}

// plansIntruders plans other clients' requests about the client's session. They begin just after the session, when an input may not have
// heard of it yet.
func (c *client) plansIntruders() {
	r := c.w.faults.owners
	if r == nil || c.rival != nil {
		return
	}
	after := func(most time.Duration) time.Duration { return time.Duration(r.Int64N(int64(most))) }
	for range 2 + r.IntN(8) {
		c.w.After(after(300*time.Millisecond), c.intrude)
		c.w.After(after(10*time.Second), c.intrude)
	}
}

func (c *client) intrude() {
	w := c.w
	r := w.faults.owners
	x := &intruder{of: c, who: people[r.IntN(len(people))]}
	to := slices.Concat(w.nodesHolding(topology.Input), w.nodesHolding(topology.Output))
	x.to = to[r.IntN(len(to))]
	if x.who.Name == c.who.Name || w.err != nil {
		return
	}
	kinds := []protocol.RequestType{
		protocol.Results, protocol.Ping, protocol.Chunk, protocol.End, protocol.Open, protocol.Sessions, protocol.Cancel, protocol.Close,
	}
	if x.who.Role == security.Operate {
		kinds = kinds[:6] // because an operator's cancel takes effect
	}
	x.q = c.foreign(kinds[r.IntN(len(kinds))])
	if first := w.nodesHolding(topology.Input)[0]; x.q.Type == protocol.Open {
		if x.to = first; !c.speech.opened[first] || w.losses > 0 || w.faults.rewirings > 0 {
			return // only the first input knows every id, once it has opened the session
		}
	}
	if x.q.Type == protocol.Chunk || x.q.Type == protocol.End || x.q.Type == protocol.Ping {
		c.claimants = append(c.claimants, x.who.Name)
	}
	w.injected("intruder")
	w.tracef("%s asks %s for %s of client %s", x.who, x.to.id, x.q.Type, c)
	w.postAs(x.who, x.to, x.q.Append(nil), &attempt{answered: x.judge, broken: func() {}})
}

// foreign returns a request about the client's session as another client would make it.
func (c *client) foreign(kind protocol.RequestType) protocol.Request {
	r := c.w.faults.owners
	q := protocol.Request{Type: kind, Session: c.id, Token: c.token}
	if r.IntN(2) == 0 {
		q.Token = session.Token{0: 1, 15: byte(r.IntN(256))}
	}
	switch stream := r.IntN(2); kind {
	case protocol.Open:
		q.Analysis, q.Plan, q.Params, q.Takeover = c.upload.analysis, c.upload.plan, c.upload.params, r.IntN(2) == 0
	case protocol.Chunk:
		q.Stream, q.File, q.Line, q.Header, q.Data = streamNames[stream], "town1/"+streamNames[stream]+".csv", 2, []byte("key,group"),
			[]byte("a,b\n")
		q.Lane, q.Seq = uint32(r.IntN(4)), uint64(1+r.IntN(6))
	case protocol.End:
		q.Stream, q.Lanes = streamNames[stream], []protocol.LaneSeq{{Lane: uint32(r.IntN(4)), Seq: uint64(1 + r.IntN(6))}}
	case protocol.Ping:
		if r.IntN(2) == 0 {
			q.Lanes = []protocol.LaneSeq{{Lane: uint32(r.IntN(4)), Seq: 100}}
		}
	case protocol.Cancel, protocol.Close:
		if q.Force = r.IntN(2) == 0; q.Force {
			q.Token = session.Token{}
		}
	case protocol.Sessions:
		return protocol.Request{Type: kind}
	}
	if (kind == protocol.Ping || kind == protocol.Results) && r.IntN(2) == 0 {
		q.Token = session.Token{}
	}
	return q
}

// judge checks whether an intruder may get this reply.
func (x *intruder) judge(reply protocol.Reply) {
	w, c := x.of.w, x.of
	code := reply.Err.Code
	wrong := func(why string) {
		w.fail("S5: %s asks %s for %s of client %s of %s, and hears %s %s %q %s: %s", x.who, x.to.id, x.q.Type, c, c.who, reply.Type,
			reply.State, code,
			reply.Reason+reply.Err.Message, why)
	}
	watches, operates := x.who.Role == security.Watch, x.who.Role == security.Operate
	permitted := !watches || slices.Contains([]protocol.RequestType{protocol.Results, protocol.Ping, protocol.Sessions}, x.q.Type)
	switch {
	case code == protocol.ErrTooLarge: // the socket's own reply
	case permitted != (code != protocol.ErrForbidden):
		wrong("the role says otherwise")
	case !permitted:
		w.report.Counters["forbidden"]++
	case x.q.Type == protocol.Sessions:
		for _, s := range reply.Sessions {
			if !watches && !operates && !w.owns(x.who.Name, &s) {
				wrong("session " + s.Session.String() + " is another one's")
			}
		}
		if (watches || operates) && x.to.stage().holds(topology.Input) {
			w.checkShares(x.to, reply.Sessions)
		}
	case x.q.Type == protocol.Open:
		if w.losses == 0 && (code != protocol.ErrInUse || reply.Err.RetryAfter > 0 || strings.Contains(reply.Err.Message, c.who.Name)) {
			wrong("the id is another one's, and no more is to be said")
		}
	case operates && (x.q.Type == protocol.Ping || x.q.Type == protocol.Results), watches && x.q.Type == protocol.Ping:
	case x.q.Type == protocol.Close && reply.Type == protocol.OK, code == protocol.ErrUnknownSession, code == protocol.ErrWrongNode:
		w.report.Counters["hidden"]++
	case says(reply.Err.Message+reply.Reason, "which its client says it acknowledged"), // the intruder gets its own claim back
		slices.Contains(w.claimants(c.id), x.who.Name) && (code == protocol.ErrClosed || x.q.Type == protocol.Cancel &&
			reply.Type == protocol.OK):
	case w.unsure() && (code == protocol.ErrFailed || reply.State == session.Failed) && len(reply.Parts) == 0:
		// If a lost disk, or a node that left, has failed a session, the session's owner is unknown.
	default:
		wrong("nothing is to be said of it")
	}
}

// checkShares checks that no client runs more sessions at an input than its share, but for places that nobody wants: of these one stays
// free.
func (w *world) checkShares(n *node, runs []protocol.SessionInfo) {
	l, owners := w.layout.limits, map[string]int64{}
	for _, s := range runs {
		most := l.PartOf(int64(l.Sessions), s.Owner)
		if most < int64(l.Sessions) {
			most = max(most, int64(l.Sessions)-1)
		}
		if owners[s.Owner]++; owners[s.Owner] > most {
			w.fail("R16: %s runs %d sessions of %s, and limits.client_share is %d %% of %d", n.id, owners[s.Owner], s.Owner, l.ClientShare,
				l.Sessions)
		}
	}
}

// checkMemory checks that the sessions in a joiner that was recovered hold no more than they may together. A node that runs has taken
// frames since its last commit. Other nodes measure tables, which take other room when they are read again.
func (n *node) checkMemory(back *core.Core) {
	limit, s := n.w.faults.sharedMemory, n.stage()
	if limit == 0 || s.holds(topology.Aggregator) || s.holds(topology.Reducer) {
		return
	}
	if _, owners, total := back.Held(); total > limit {
		n.w.fail("R16: the sessions in %s hold %d bytes, and limits.node_memory is %d: %v", n.id, total, limit, owners)
	}
}

// gaveWay reports whether a client's session may fail because all share memory: its owner holds more than it may, or as much as an equal
// division among the owners gives. The latter then holds at least of the owner that holds most.
func (w *world) gaveWay(reason string) bool {
	w.report.Counters["gave way"]++
	var limit, all, has, share, most int
	_, numbers, _ := strings.Cut(reason, "limits.node_memory is ")
	n, _ := fmt.Sscanf(numbers, "%d, all sessions hold %d bytes there, and those of this client %d, of which it has %d for sure "+
		"(limits.client_share) and %d at most",
		&limit, &all, &has, &share, &most)
	return n == 5 && limit == w.faults.sharedMemory && share == limit/2 && (has > most || all > limit && 3*has >= all)
}

// claimants returns the clients that have sent requests about a session as if it were their own, whichever of the session's clients they
// meant.
func (w *world) claimants(id session.ID) (all []string) {
	for _, c := range w.clients {
		if c.id == id {
			all = append(all, c.claimants...)
		}
	}
	return all
}

// checkHears checks that a node tells the owner of a session what it tells an operator, and everybody else that there
// is no such session. If the node has only a client's claim that the session was lost, only those who made the claim
// may read and close it. If it has only a failure without a known owner, everybody may read it, and also that an
// operator has closed it since.
func (w *world) checkHears(n *node, c *client, who security.Identity, hears, operator string) {
	claimants := w.claimants(c.id)
	failed := func(answer string) bool { return strings.Contains(answer, string(protocol.ErrFailed)) }
	closed := strings.Contains(operator, string(protocol.ErrClosed))
	wrong := hears != operator && !failed(hears) && !(closed && len(claimants) > 0)
	if who.Name != c.who.Name {
		itsWord := slices.Contains(claimants, who.Name) && (closed || failed(hears))
		ownerless := w.unsure() && closed && hears == operator && c.who.Role == security.Operate
		wrong = !strings.HasPrefix(hears, "error  "+string(protocol.ErrUnknownSession)) && !itsWord && !ownerless
	}
	if wrong && !failed(operator) {
		w.fail("S5: %s tells %s of session %s of %s %q, and an operator %q", n.id, who, c.id, c.who, hears, operator)
	}
}

// owns reports whether a listed session belongs to the name. It may also be what is left of that client's claim that an input has lost the
// session.
func (w *world) owns(name string, s *protocol.SessionInfo) bool {
	return slices.ContainsFunc(w.clients, func(c *client) bool {
		return c.id == s.Session && (c.who.Name == name || s.Analysis == "" && s.State == session.Failed &&
			slices.Contains(w.claimants(c.id), name))
	})
}

// intruded reports whether others may have caused the end of a client's session.
func (c *client) intruded(code protocol.Code, reason string) bool {
	if c.w.faults.owners == nil {
		return false
	}
	switch code {
	case protocol.ErrForbidden, protocol.ErrUnknownSession, protocol.ErrCancelled, protocol.ErrClosed, protocol.ErrInUse, protocol.ErrFinished,
		protocol.ErrSuperseded, protocol.ErrGap:
		return true
	}
	return says(reason, "came twice with different content") || says(reason, "which its client says it acknowledged") ||
		says(reason, "has sent") ||
		says(reason, "another session") || says(reason, "opened by another client")
}

// unsure reports whether a node may know a session's failure but not its owner: the node that knew the owner has lost its disk or has left
// the topology.
func (w *world) unsure() bool { return w.losses > 0 || w.faults.rewirings > 0 }
