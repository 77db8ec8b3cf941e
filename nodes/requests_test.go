package nodes

import (
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/zmqx"
)

// TestS5_ARequestIsItsConnections: a request belongs to the name that its connection has proven, whatever the request itself says.
func TestS5_ARequestIsItsConnections(t *testing.T) {
	body := (&protocol.Request{Type: protocol.Info}).Append(nil)
	for name, want := range map[string]security.Identity{
		"":              role.LocalOperator,
		"submit/alice":  {Role: security.Submit, Name: "alice"},
		"watch/wim":     {Role: security.Watch, Name: "wim"},
		"node/joiner-1": {Role: security.Node, Name: "joiner-1"}, // a node is not a client, so the table of roles has no entry for it
		"operate/":      {},
		"operate":       {},
		"root/alice":    {},
		"submit/Alice":  {},
	} {
		requests := (&node{}).wellFormed([]zmqx.Received{{Peer: 7, From: name, Msg: zmqx.Message{nil, body}}})
		if len(requests) != 1 || requests[0].From != 7 || requests[0].Client != want {
			t.Errorf("%q sends %+v, want %+v", name, requests, want)
		}
	}
	if got := asker("", true); got != (security.Identity{}) {
		t.Errorf("at a socket with keys who has proven nothing is %v", got)
	}
}
