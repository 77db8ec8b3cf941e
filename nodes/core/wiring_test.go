package core

import (
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
)

func announcement(wiring string, params map[string]string) string {
	return string(role.Announcement{Analysis: "test", Params: params, Wiring: wiring}.Encode())
}

// failed returns why a session has failed in a core, and whether the core tells its receivers. The reason is empty while the session runs.
func failed(t *testing.T, c *Core, id string) (reason string, told bool) {
	t.Helper()
	tomb, gone := c.tombstones.Get(sessionOf(id))
	if _, runs := c.sessions[sessionOf(id)]; runs == gone {
		t.Fatalf("session %s runs %v and is over %v", id, runs, gone)
	}
	for _, f := range c.build.rec.Frames {
		told = told || f.Frame.Kind == link.Abort && f.Frame.Session == sessionOf(id)
	}
	return tomb.Reason, told
}

// TestS5_ARefusedAnnouncementNamesTheOwner: a session that is refused when it is announced fails for its owner only, here and downstream. A
// session of another client with the same id is another session.
func TestS5_ARefusedAnnouncementNamesTheOwner(t *testing.T) {
	d := newDriver(t, 1, "hash")
	d.c.cfg.Wiring = "new"
	openers := openersOf("anns")
	d.says("s", link.Open, 0, string(role.Announcement{Analysis: "test", Wiring: "old", Owner: "ann", Openers: openers}.Encode()))
	d.c.Advance()
	told := 0
	here, _ := d.c.tombstones.Get(sessionOf("s"))
	for _, f := range d.c.build.rec.Frames {
		if f.Frame.Kind == link.Abort {
			told++
			if there, err := decodeTombstone(f.Frame.Payload); err != nil || there.Owner != "ann" || there.Openers.Founder() != openers.Founder() {
				t.Errorf("%s hears of %+v, %v", f.To, there, err)
			}
		}
	}
	if told == 0 || !here.Failed || here.Owner != "ann" || here.Openers.Founder() != openers.Founder() {
		t.Errorf("%d receivers hear of it, and here is %+v", told, here)
	}
}

// TestR12_ASessionRunsUnderOneWiring: a session that began under another topology fails when it is announced.
func TestR12_ASessionRunsUnderOneWiring(t *testing.T) {
	d := newDriver(t, 1, "hash")
	d.c.cfg.Wiring = "new"
	for id, wiring := range map[string]string{"s": "old", "t": "new", "u": ""} {
		d.says(id, link.Open, 0, announcement(wiring, nil))
	}
	d.c.Advance()
	for id, fails := range map[string]bool{"s": true, "t": false, "u": false} {
		why, told := failed(t, d.c, id)
		if strings.Contains(why, "joins stages otherwise") != fails || told != fails {
			t.Errorf("session %s: %q, told %v", id, why, told)
		}
	}
}

// TestR12_ASessionDoesNotOutliveItsWiring: a session that a node finds in its log or its snapshot, when it starts with another topology,
// fails too. The failure is still known at the next start.
func TestR12_ASessionDoesNotOutliveItsWiring(t *testing.T) {
	for name, snapshot := range map[string]bool{"log": false, "snapshot": true} {
		d := newDriver(t, 1, "hash")
		d.c.cfg.Wiring = "old"
		d.says("s", link.Open, 0, announcement("old", nil))
		d.says("s", link.Data, 1, "one")
		d.commit()
		at := link.LogIndex(0)
		var state []byte
		if snapshot {
			state, at = d.c.Snapshot(), link.LogIndex(len(d.disk))
		}
		fresh := d.cfg
		for _, wiring := range []string{"old", "new", "new"} {
			d.cfg = func() Config { c := fresh(); c.Wiring = wiring; return c }
			d.c = d.recovered(state, at, NewLogAnalysis(nil))
			why, told := failed(t, d.c, "s")
			if fails := wiring == "new"; strings.Contains(why, "joins stages otherwise") != fails {
				t.Errorf("%s, wiring %s: %q", name, wiring, why)
			} else if fails && told != d.c.Pending() {
				t.Errorf("%s: receivers are told %v, and there is something to store: %v", name, told, d.c.Pending())
			}
			if d.c.Pending() {
				d.commit()
			}
		}
		if d.c.Pending() {
			t.Errorf("%s: the failure is said again at each start", name)
		}
	}
}

// TestR12_AnnouncementsAgree: two nodes announce one session. If the announcements differ, the nodes have different files, or a client has
// asked each for something else.
func TestR12_AnnouncementsAgree(t *testing.T) {
	for _, second := range []string{announcement("w", map[string]string{"a": "2"}), announcement("v", nil)} {
		d := newDriver(t, 1, "relay")
		d.c.cfg.Wiring = "w"
		for i, text := range []string{announcement("w", nil), second} {
			k := d.c.inOrder[i].key()
			hear(d.c, link.Frame{Edge: k.edge, From: k.from, ID: theirs, Seq: 1, Kind: link.Open, Session: sessionOf("s"), Payload: []byte(text)})
			d.c.Advance()
			if why, _ := failed(t, d.c, "s"); strings.Contains(why, "otherwise than others") != (i == 1) {
				t.Errorf("announcement %d: %q", i, why)
			}
		}
	}
}
