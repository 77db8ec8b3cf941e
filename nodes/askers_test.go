package nodes

import (
	"testing"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// TestS5_WhoMayAskANode: any node answers the clients of the topology. An input also answers the other inputs, which send the requests of posta
// deploy.
func TestS5_WhoMayAskANode(t *testing.T) {
	top := topology.Default()
	for _, n := range top.Nodes() {
		admit := askers(top, n)
		for id, want := range map[security.Identity]bool{
			{Role: security.Submit, Name: "alice"}: true, {Role: security.Watch, Name: "wanda"}: true, {Role: security.Operate, Name: "olga"}: true,
			{Role: security.Node, Name: "input-1"}:  n.Holds(topology.Input),
			{Role: security.Node, Name: "joiner-1"}: false, {Role: security.Node, Name: "input-9"}: false, {Role: security.Medic, Name: "medic-1"}: false,
			{Role: security.Client, Name: "alice"}: false, {}: false,
		} {
			if err := admit(id); (err == nil) != want {
				t.Errorf("%v at %s: %v", id, n.ID, err)
			}
		}
	}
}
