package gateway

import (
	"encoding/binary"
	"testing"

	"posta.dev/posta/protocol/session"
)

// TestR16_ManySessionsOfOneOwnerDoNotForgetOthers: what is remembered of ended sessions is shared by owners.
func TestR16_ManySessionsOfOneOwnerDoNotForgetOthers(t *testing.T) {
	id := func(n int) (id session.ID) {
		binary.BigEndian.PutUint32(id[:], uint32(n))
		return id
	}
	stones := newTombstones(20)
	for n := range 5 {
		stones.Put(id(n), Tombstone{Holder: Holder{Owner: "olga"}})
	}
	for n := 100; n < 10_000; n++ {
		owner := "ann"
		if n%3 == 0 {
			owner = "bob"
		}
		stones.Put(id(n), Tombstone{Holder: Holder{Owner: owner}})
	}
	for n := range 5 {
		if _, ok := stones.Get(id(n)); !ok {
			t.Errorf("olga's session %d is forgotten", n)
		}
	}
	if _, ok := stones.Get(id(9999)); !ok || len(stones.Keys()) != 20 {
		t.Errorf("%d are remembered, the last one %v", len(stones.Keys()), ok)
	}
	for n := 20_000; n < 20_040; n++ { // olga loses her oldest only when she has most
		stones.Put(id(n), Tombstone{Holder: Holder{Owner: "olga"}})
	}
	if _, ok := stones.Get(id(0)); ok {
		t.Error("olga's oldest session is remembered though she has had most")
	}
}
