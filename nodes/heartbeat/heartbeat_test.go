package heartbeat

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

func someBeat() Beat {
	return Beat{
		Node: "joiner-1", ID: link.Identity{LogID: link.LogID{1}, Incarnation: 4}, PID: 77, State: Blocked, Uptime: 90 * time.Second,
		FramesIn: 1, BytesIn: 2, FramesOut: 3, BytesOut: 4, Damaged: 9, Commits: 5, LogBytes: 6, Sessions: 7, Running: 8,
		Links:   []Link{{"joiner-aggregator-all", "aggregator-1", 99, true}, {"reference", "", 0, false}},
		Ended:   []role.Ended{{ID: session.ID{9}, Owner: "alice", Failed: true, Reason: "poison", Fields: protocol.Fields{"cause": "x"}}, {}},
		Waiting: []session.ID{{3}, {4}},
		Trouble: "NATS at nats://127.0.0.1:4222: nobody there: start the server",
		Mark:    1 << 40, MarkAge: 31 * time.Second, Role: "joiner", Session: session.ID{8}, Stream: "trips", Memory: 1 << 33,
	}
}

func TestBeat_ComesOutAsItWentIn(t *testing.T) {
	b := someBeat()
	for _, b.NoRoom = range []bool{false, true} {
		p := b.Append(nil)
		if got, err := Decode(p); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%+v, %v", got, err)
		}
		for n := range p {
			if _, err := Decode(p[:n]); !errors.Is(err, link.ErrBadFrame) {
				t.Errorf("the first %d bytes: %v", n, err)
			}
		}
	}
	if _, err := Decode(make([]byte, maxBeat+1)); !errors.Is(err, link.ErrBadFrame) {
		t.Fatal("a heartbeat of any size is read")
	}
}

// R16: a text of any length takes MaxTrouble bytes of a heartbeat, and stays valid text.
func TestBeat_TroubleIsCut(t *testing.T) {
	b := Beat{Trouble: strings.Repeat("ä", MaxTrouble)}
	got, err := Decode(b.Append(nil))
	if err != nil || len(got.Trouble) > MaxTrouble || !utf8.ValidString(got.Trouble) || !strings.HasSuffix(got.Trouble, "ä…") {
		t.Errorf("%d bytes, %q, %v", len(got.Trouble), got.Trouble, err)
	}
}

// TestS5_WhoReadsNoAnswersReadsNoReasons: neither in words nor in fields.
func TestS5_WhoReadsNoAnswersReadsNoReasons(t *testing.T) {
	b := someBeat()
	if e := b.Public().Ended[0]; e.Reason != "" || e.Fields != nil || !e.Failed || b.Ended[0].Fields == nil {
		t.Errorf("it is told %+v", e)
	}
}

func FuzzDecode(f *testing.F) {
	b := someBeat()
	f.Add(b.Append(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := Decode(p)
		if err != nil {
			return
		}
		if again, err := Decode(b.Append(nil)); err != nil || !reflect.DeepEqual(again, b) {
			t.Fatalf("%+v comes back as %+v, %v", b, again, err)
		}
	})
}
