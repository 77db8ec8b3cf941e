package input

import (
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/test/roletest"
)

// pinger pings an input as a client does that reads files.
type pinger struct {
	t   *testing.T
	h   *roletest.Host
	now time.Time
}

func pinging(t *testing.T) *pinger {
	_, h := newInput()
	open(t, h, id)
	return &pinger{t, h, noon}
}

// tells pings after some time, and returns what everybody can see then.
func (r *pinger) tells(after time.Duration, read, size uint64) protocol.SessionInfo {
	r.t.Helper()
	return r.says(after, protocol.Request{Type: protocol.Ping, Session: id, Token: ours, FilesRead: read, FilesSize: size})
}

func (r *pinger) says(after time.Duration, q protocol.Request) protocol.SessionInfo {
	r.t.Helper()
	r.now = r.now.Add(after)
	if reply, ok := r.h.Ask(r.t, r.now, 1, q); !ok || reply.Type != protocol.OK {
		r.t.Fatalf("%+v", reply)
	}
	return r.seen(0)
}

func (r *pinger) seen(after time.Duration) protocol.SessionInfo {
	r.t.Helper()
	r.now = r.now.Add(after)
	reply, ok := r.h.Ask(r.t, r.now, 2, protocol.Request{Type: protocol.Sessions})
	if !ok || len(reply.Sessions) != 1 {
		r.t.Fatalf("%+v", reply)
	}
	return reply.Sessions[0]
}

// TestProgress_OfAnEvenClient: the estimate is there after the second ping, and exact for a client that is always as fast.
func TestProgress_OfAnEvenClient(t *testing.T) {
	r := pinging(t)
	if s := r.seen(time.Second); s.FilesSize != 0 || s.FilesRead != 0 || s.FilesLeft != 0 {
		t.Fatalf("before the first ping: %+v", s)
	}
	if s := r.tells(time.Second, 100, 1000); s.FilesRead != 100 || s.FilesSize != 1000 || s.FilesLeft != 0 {
		t.Fatalf("after one ping: %+v", s)
	}
	for read := uint64(110); read < 1000; read += 10 {
		if s := r.tells(time.Second, read, 1000); s.FilesLeft != time.Duration(1000-read)*time.Second/10 {
			t.Fatalf("at %d: %+v", read, s)
		}
	}
	if s := r.tells(time.Second, 1000, 1000); s.FilesRead != 1000 || s.FilesLeft != 0 {
		t.Fatalf("at the end: %+v", s)
	}
}

// TestProgress_FollowsTheSpeed: a few seconds after a client has become slower, the estimate is that of the new speed.
func TestProgress_FollowsTheSpeed(t *testing.T) {
	r := pinging(t)
	read := uint64(0)
	for range 10 {
		read += 1000
		r.tells(time.Second, read, 1e6)
	}
	var s protocol.SessionInfo
	for range 5 {
		read += 10
		s = r.tells(time.Second, read, 1e6)
	}
	if want := time.Duration(1e6-read) * time.Second / 10; s.FilesLeft != want {
		t.Errorf("%v, want %v", s.FilesLeft, want)
	}
}

// TestProgress_WithoutAnEstimate: there is no estimate for a client that stands still, says nothing any more, or does not know its sizes.
// If a client begins again, so does the measurement.
func TestProgress_WithoutAnEstimate(t *testing.T) {
	for name, do := range map[string]func(*pinger) protocol.SessionInfo{
		"stands still": func(r *pinger) (s protocol.SessionInfo) {
			for range 6 {
				s = r.tells(time.Second, 200, 1000)
			}
			return s
		},
		"is silent":              func(r *pinger) protocol.SessionInfo { return r.seen(readAge + time.Millisecond) },
		"no longer knows a size": func(r *pinger) protocol.SessionInfo { return r.tells(time.Second, 0, 0) },
		"begins again":           func(r *pinger) protocol.SessionInfo { return r.tells(time.Second, 50, 1000) },
		"has other files":        func(r *pinger) protocol.SessionInfo { return r.tells(time.Second, 300, 2000) },
		"has read more than all": func(r *pinger) protocol.SessionInfo { return r.tells(time.Second, 1001, 1000) },
		"pings at once":          func(r *pinger) protocol.SessionInfo { r.tells(time.Second, 1, 10); return r.tells(0, 2, 10) },
	} {
		r := pinging(t)
		r.tells(time.Second, 100, 1000)
		if s := r.tells(time.Second, 200, 1000); s.FilesLeft != 8*time.Second {
			t.Fatalf("%s: before: %+v", name, s)
		}
		if s := do(r); s.FilesLeft != 0 {
			t.Errorf("a client that %s: %+v", name, s)
		}
	}
}

// TestProgress_OfHostileNumbers: the largest numbers neither overflow nor make an estimate of nonsense.
func TestProgress_OfHostileNumbers(t *testing.T) {
	const most = protocol.MaxOffset - 1
	for _, c := range []struct{ from, to, size uint64 }{{0, 1, most}, {0, most, most}, {0, most - 1, most}, {most - 1, most, 1},
		{most - 2, most - 1, most}, {0, 0, most}} {
		r := pinging(t)
		r.tells(time.Second, c.from, c.size)
		s := r.tells(time.Nanosecond, c.to, c.size)
		if s.FilesLeft < 0 || s.FilesLeft > longestLeft*time.Second {
			t.Errorf("%+v: %+v", c, s)
		}
		if s = r.tells(100*24*time.Hour, c.to, c.size); s.FilesLeft < 0 || s.FilesLeft > longestLeft*time.Second {
			t.Errorf("%+v, much later: %+v", c, s)
		}
	}
}

// TestR17_ProgressIsTheOpeners: a ping without the token, or of a client that has taken the session over, does not mix with what the opener
// told.
func TestR17_ProgressIsTheOpeners(t *testing.T) {
	r := pinging(t)
	r.tells(time.Second, 100, 1000)
	if s := r.says(time.Second, protocol.Request{Type: protocol.Ping, Session: id, FilesRead: 9, FilesSize: 10}); s.FilesRead != 100 ||
		s.FilesSize != 1000 {
		t.Errorf("somebody who only looks has changed it: %+v", s)
	}
	for range 60 { // so that the opener counts as silent, and this node does not count as asleep
		r.now = r.now.Add(100 * time.Millisecond)
		r.h.Gateway.Tick(r.now)
	}
	if reply, ok := r.h.Ask(t, r.now, 1, opens(theirs)); !ok || reply.Type != protocol.Opened {
		t.Fatalf("the takeover: %+v", reply)
	}
	if s := r.seen(0); s.FilesSize != 0 {
		t.Errorf("what the former client told is shown as the new one's: %+v", s)
	}
}
