package core

import (
	"fmt"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

// TestN3_AnIDThatIsUsedAgain: a session has left so long ago that its tombstone is gone, and another session with its id begins. Recovery
// must repeat the calls of the second session, although the log also says that the id has left.
func TestN3_AnIDThatIsUsedAgain(t *testing.T) {
	d := newDriver(t, 1, "hash")
	announcement := string(role.Announcement{Analysis: "test"}.Encode())
	life := func(id string) {
		d.says(id, link.Open, 0, announcement)
		d.says(id, link.Abort, 0, string(encodeAbort("because")))
	}
	life("s")
	d.commit()
	snapshot, at := d.c.Snapshot(), link.LogIndex(len(d.disk))
	for i := range role.Remembered {
		life(fmt.Sprintf("other %d", i))
		d.commit()
	}
	d.says("s", link.Open, 0, announcement)
	d.says("s", link.Data, 1, "one")
	d.commit()
	if d.c.Sessions() != 1 {
		t.Fatal("the id cannot be used again")
	}
	d.same("from the beginning", d.recovered(nil, 0, d.analysed()))
	d.same("from a snapshot", d.recovered(snapshot, at, d.analysed()))
}
