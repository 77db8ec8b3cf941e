package core

import (
	"slices"
	"testing"

	"posta.dev/posta/nodes/role"
)

// TestR3_AnAnswerThatChangesNothingLeavesOnce: there is nothing to store for it, so it leaves without a commit. An answer behind a commit
// that is being stored waits for that one.
func TestR3_AnAnswerThatChangesNothingLeavesOnce(t *testing.T) {
	d := newDriver(t, 1, "gateway")
	h := d.c.cfg.Roles[0].(*fakeGateway).host
	var left []role.Peer
	step := func() {
		for _, r := range d.c.Output(d.now).Replies {
			left = append(left, r.To)
		}
	}
	h.ReplyStored(1, []byte("yes"))
	if step(); len(left) > 0 {
		t.Fatal("it leaves before the commit is closed")
	}
	for range 3 {
		d.commit()
		step()
	}
	h.Record([]byte("s"))
	c := d.c.Seal()
	h.ReplyStored(2, []byte("yes"))
	if step(); !slices.Equal(left, []role.Peer{1}) {
		t.Fatalf("%v has left", left)
	}
	d.c.Stored(c, 1)
	for range 3 {
		d.commit()
		step()
	}
	if !slices.Equal(left, []role.Peer{1, 2}) {
		t.Errorf("%v has left", left)
	}
}
