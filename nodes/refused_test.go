package nodes_test

import (
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/nodes/input"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/roletest"
	"posta.dev/posta/topology"
)

// TestR13_ALateOpenCountsNoSession: an input that is not the first one remembers one session of an id, and its core another one. A late
// open of the latter begins nothing. The input must not count it, because nothing would ever end it, and it would take a place of
// limits.sessions for ever.
func TestR13_ALateOpenCountsNoSession(t *testing.T) {
	for _, over := range []string{"cancelled", "unheard of"} {
		about := roletest.About()
		about.Node = "input-1"
		c, err := core.New(core.Config{
			Self: "input-1", ID: link.Identity{LogID: link.LogID{1}, Incarnation: 1, Life: 1}, Roles: []role.Role{input.New(about)},
			Known: roletest.Known(),
			Out:   []core.OutEdge{{Name: "out", To: []link.NodeID{"parser-1"}, Streams: topology.AllStreams}}, Window: 1 << 20, Commit: 1 << 20,
		})
		if err != nil {
			t.Fatal(err)
		}
		now, stored, peer := time.Unix(1_700_000_000, 0), link.LogIndex(0), role.Peer(0)
		ask := func(q protocol.Request) (reply protocol.Reply) {
			t.Helper()
			peer++
			c.Request(now, &role.Request{From: peer, Client: role.LocalOperator, Body: q.Append(nil)})
			c.Tick(now)
			c.Advance()
			if commit := c.Seal(); commit != nil {
				stored++
				c.Stored(commit, stored)
			}
			for _, r := range c.Output(now).Replies {
				if r.To != peer {
					continue
				}
				if reply, err = protocol.DecodeReply(r.Body); err != nil {
					t.Fatal(err)
				}
			}
			return reply
		}
		id := roletest.ID("s")
		ours, theirs := session.Token{1}, session.Token{2}
		open := func(token session.Token) protocol.Reply {
			return ask(protocol.Request{Type: protocol.Open, Session: id, Token: token, Analysis: "paint"})
		}
		if over == "cancelled" {
			if r := open(ours); r.State != session.Running {
				t.Fatalf("%+v", r)
			}
			ask(protocol.Request{Type: protocol.Cancel, Session: id, Token: ours})
		} else { // the client names what this input has acknowledged, and the input does not know the session: its disk was lost
			ask(protocol.Request{Type: protocol.Ping, Session: id, Token: ours, Lanes: []protocol.LaneSeq{{Lane: 1, Seq: 1}}})
		}
		for range 2 {
			for _, token := range []session.Token{theirs, ours} {
				if r := open(token); r.Err.Code != protocol.ErrFailed && r.Err.Code != protocol.ErrCancelled || r.Err.Message == "" {
					t.Errorf("%s: %v opens it and hears %+v", over, token[0], r)
				}
				if c.Running() != 0 || c.Sessions() != 0 {
					t.Fatalf("%s: %v opens it: the input counts %d sessions, and the core runs %d", over, token[0], c.Running(), c.Sessions())
				}
			}
		}
	}
}
