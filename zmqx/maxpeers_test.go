package zmqx

import (
	"errors"
	"testing"

	"posta.dev/posta/test/await"
)

// TestHostile_MorePeersThanMaxPeers: more peers than MaxPeers complete a handshake and stay silent. The good peer, which has sent messages,
// keeps its connection, and a late peer gets one.
func TestHostile_MorePeersThanMaxPeers(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		told := newEvents()
		o := Options{MaxPeers: 8, OnEvent: told.take}
		besideAGoodPeer(t, o, endpoint, func(t *testing.T, address string, pull *Pull) {
			for i := range 30 {
				defer rawClient(t, address, "PUSH", "").Close()
				if n := pull.peerCount(); n > o.MaxPeers {
					t.Fatalf("%d peers after %d silent ones, MaxPeers is %d", n, i+1, o.MaxPeers)
				}
			}
			late := newPush(t, Options{}, address)
			noError(t, late.TrySend(text("late")))
			await.Until(t, "the late peer is served", func() bool { n, _ := late.queue.size(); return n == 0 && late.peerCount() == 1 })
			if n := late.connects(); n != 1 {
				t.Errorf("the late peer had to come %d times", n)
			}
			// 1 good, 30 silent, 1 late: all were admitted, and the excess was evicted.
			await.Until(t, "all are in", func() bool { return pull.connects() == 32 })
			for range 32 - o.MaxPeers {
				if gone := told.await(t, Disconnected); !errors.Is(gone.Err, errTooManyPeers) {
					t.Errorf("a peer went for another reason: %v", gone.Err)
				}
			}
			if n := pull.peerCount(); n != o.MaxPeers {
				t.Errorf("%d peers are left of %d", n, o.MaxPeers)
			}
		})
	})
}
