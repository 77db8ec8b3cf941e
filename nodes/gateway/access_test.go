package gateway

import (
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
)

var everyRequest = []protocol.RequestType{
	protocol.Info, protocol.Sessions, protocol.Ping, protocol.Results, protocol.Open, protocol.Chunk, protocol.Read, protocol.End,
	protocol.Cancel, protocol.Close, protocol.Hold,
}

// TestS5_WhoMayDoWhat is the table of permissions: o for one's own sessions, a for all, - for none.
func TestS5_WhoMayDoWhat(t *testing.T) {
	mark := map[whose]byte{nobodys: '-', own: 'o', everybodys: 'a'}
	for who, want := range map[security.Role]string{
		//             isprocrecch
		security.Watch:   "aaao-------",
		security.Submit:  "aooooooooo-",
		security.Operate: "aaaaooooaaa",
		"":               "-----------",
		security.Node:    "-a------a-a", // an input, for posta deploy
		security.Medic:   "aa---------", // for the console
		"Operate":        "-----------",
	} {
		got := ""
		for _, ask := range everyRequest {
			got += string(mark[rightsOf(who, ask)])
		}
		if got != want {
			t.Errorf("%q: %s, want %s", who, got, want)
		}
	}
	if len(rights) != len(everyRequest) {
		t.Errorf("%d requests in the table, %d here", len(rights), len(everyRequest))
	}
	if rightsOf(security.Operate, "reboot") != nobodys {
		t.Error("a request that is not in the table is permitted")
	}
}

// TestS5_ASessionIsItsOwners: the name decides, whatever the token is.
func TestS5_ASessionIsItsOwners(t *testing.T) {
	token := session.Token{1}.Hash()
	h := Holder{Owner: "alice", Openers: session.Openers{token}}
	alice, bob := security.Identity{Role: security.Submit, Name: "alice"}, security.Identity{Role: security.Submit, Name: "bob"}
	olga, wanda := security.Identity{Role: security.Operate, Name: "olga"}, security.Identity{Role: security.Watch, Name: "wanda"}
	for _, c := range []struct {
		by                role.Asker
		shows, acts, open bool // of a cancel; open: the asker is the opener
	}{
		{role.Asker{Identity: alice, Token: token}, true, true, true},
		{role.Asker{Identity: alice}, true, true, false},
		{role.Asker{Identity: alice, Token: session.Token{2}.Hash()}, true, false, false},
		{role.Asker{Identity: bob, Token: token}, false, false, false},
		{role.Asker{Identity: bob}, false, false, false},
		{role.Asker{Identity: olga, Token: token}, true, true, false},
		{role.Asker{Identity: olga}, true, true, false},
		{role.Asker{Identity: wanda, Token: token}, false, false, false},
		{role.Asker{Identity: role.LocalOperator}, true, true, false},
		{role.Asker{Identity: security.Identity{Name: "alice"}, Token: token}, false, false, true}, // it has no role, so it is refused earlier
		{role.Asker{Identity: security.Identity{Role: security.Submit}, Token: token}, false, false, false},
	} {
		shows, acts, open := h.Shows(c.by.Identity, protocol.Cancel), h.LetsAct(c.by, protocol.Cancel), h.OpenedBy(c.by)
		if shows != c.shows || acts != c.acts || open != c.open {
			t.Errorf("%+v: shows %v, acts %v, opener %v", c.by, shows, acts, open)
		}
	}
	nobodys := Holder{}
	if !nobodys.Shows(bob, protocol.Results) || nobodys.Shows(bob, protocol.Close) || !nobodys.Shows(olga, protocol.Close) {
		t.Error("a failure that nobody knows the owner of is to be read by all, and dropped by operators")
	}
	if s := (Holder{Owner: "alice"}); s.Shows(bob, protocol.Results) || !s.Shows(alice, protocol.Results) {
		t.Error("what alice has claimed is shown to bob, or not to her")
	}
}
