package agent

import (
	"context"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// nothing is a Restarter that restarts nothing.
type nothing struct{}

func (nothing) Start(context.Context, medic.NodeID) error                   { return nil }
func (nothing) Terminate(context.Context, medic.NodeID) error               { return nil }
func (nothing) Kill(context.Context, medic.NodeID) error                    { return nil }
func (nothing) Alive(context.Context, medic.NodeID) (bool, error)           { return true, nil }
func (nothing) Wait(context.Context, medic.NodeID) (d medic.Death, _ error) { return d, nil }

// TestS3_WhoMayListenToAMedic: members of the cluster, and clients with the role watch. A client that is revoked later
// hears nothing more.
func TestS3_WhoMayListenToAMedic(t *testing.T) {
	topo := keytest.Loopback(t, topology.Variant{Dir: t.TempDir()})
	ring := keytest.New(t, topo.Name)
	n := topo.MedicNodes()[0]
	ring.Of(t, n)
	all := ring.Listeners(t, topo, n)
	keys := ring.Load(t, n.Identity())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{Topology: topo, Medic: n.ID, Restarter: nothing{}, Log: quiet(), Keys: keys})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	keytest.Try(t, all, n)

	late, err := topo.Node("joiner-2")
	if err != nil {
		t.Fatal(err)
	}
	_, cut := keytest.Sub(t, ring.Of(t, late), security.Control, n)
	stays, events := keytest.Sub(t, all[0].Keys, security.Control, n)
	cut.Await(t, zmqx.Connected)
	events.Await(t, zmqx.Connected)
	ring.Revoke(t, n.Identity(), late.Identity())
	if err := keys.Reload(); err != nil {
		t.Fatal(err)
	}
	cut.Await(t, zmqx.Disconnected)
	if e := cut.Await(t, zmqx.Connected, zmqx.Unreachable); e.Kind == zmqx.Connected {
		t.Error("who was revoked came back")
	}
	select {
	case <-stays.C():
	case <-time.After(time.Minute):
		t.Error("the others hear the medic no more")
	}
	select {
	case e := <-events:
		t.Errorf("another listener hears %+v", e)
	default:
	}
}

// TestS3_AMedicBelievesNoPeerInAnothersName: a heartbeat or message counts only for the peer that the medic dialled and
// that has proven its name. Nodes cannot send messages that only medics send.
func TestS3_AMedicBelievesNoPeerInAnothersName(t *testing.T) {
	topo := topology.Default()
	medics := topo.MedicNodes()
	joiner, err := topo.Node("joiner-1")
	if err != nil {
		t.Fatal(err)
	}
	state := core.State{Term: core.Term{Gen: 3, Leader: medics[0].ID}}
	hears := func(from topology.Node, topic string, body []byte) bool {
		now := time.Now()
		c := core.New(core.Config{
			Self: medics[0].ID, Medics: members(medics), Nodes: members(topo.Nodes()), Heartbeat: time.Second, SuspectAfter: time.Minute,
			StuckAfter: time.Minute,
		}, state, now)
		c.HeardNode(joiner.ID, core.Sign{Identity: core.Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 1}}, now)
		c.Receive(core.Message{Kind: core.Beat, From: medics[1].ID, ID: core.Identity{LogID: [16]byte{1}, Incarnation: 1, PID: 1},
			Term: state.Term}, now)
		a := &agent{core: c, from: []topology.Node{from}}
		a.take([]zmqx.Received{{From: from.Identity().String(), Msg: zmqx.Message{[]byte(topic), body}}})
		return len(c.Output().Refused) > 0 // it was heard, and says what nobody can be
	}
	const absurd = 1 << 60
	beat := heartbeat.Beat{Node: joiner.ID, ID: link.Identity{LogID: link.LogID{1}, Incarnation: absurd, Life: 1}, PID: 1,
		State: heartbeat.Running}
	message := core.Message{Kind: core.Beat, From: medics[1].ID, ID: core.Identity{LogID: [16]byte{1}, Incarnation: absurd, PID: 1},
		Term: state.Term}
	other := topo.Nodes()[0]
	for _, c := range []struct {
		name  string
		from  topology.Node
		topic string
		body  []byte
		want  bool
	}{
		{"a node's heartbeat", joiner, BeatTopic, beat.Append(nil), true},
		{"another node's heartbeat", other, BeatTopic, beat.Append(nil), false},
		{"a node's heartbeat, of a medic", medics[1], BeatTopic, beat.Append(nil), false},
		{"a medic's message", medics[1], MessageTopic, message.Append(nil), true},
		{"another medic's message", medics[2], MessageTopic, message.Append(nil), false},
		{"a medic's message, of a node", joiner, MessageTopic, message.Append(nil), false},
	} {
		if got := hears(c.from, c.topic, c.body); got != c.want {
			t.Errorf("%s is believed: %v", c.name, got)
		}
	}
}
