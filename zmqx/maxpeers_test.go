package zmqx

import (
	"testing"
)

// TestHostile_CrowdOfGuests: more peers than there are places shake hands and say nothing. The good peer, who has spoken, keeps
// its place, and one who comes late gets one.
func TestHostile_CrowdOfGuests(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		o := Options{MaxPeers: 8}
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			for i := range 30 {
				defer rawClient(t, address, "PUSH", "").Close()
				if n := pull.Stats().Peers; n > o.MaxPeers {
					t.Fatalf("%d peers after %d guests, MaxPeers is %d", n, i+1, o.MaxPeers)
				}
			}
			before := pull.Stats().Received
			late := newPush(t, Options{}, address)
			noError(t, late.Send(testContext(t), text("late")))
			eventually(t, "the late peer is served", func() bool { return pull.Stats().Received > before && late.Stats().Peers == 1 })
			if n := late.Stats().Connects; n != 1 {
				t.Errorf("the late peer had to come %d times", n)
			}
			// 1 good, 30 guests, 1 late: all were let in, and as many as had to go were turned out.
			eventually(t, "all are in", func() bool { return pull.Stats().Connects == 32 })
			if s := pull.Stats(); s.Refused != 32-uint64(o.MaxPeers) {
				t.Errorf("%d were turned out, of %d let in", s.Refused, s.Connects)
			}
		})
	})
}
