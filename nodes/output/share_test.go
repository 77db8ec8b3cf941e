package output

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/roletest"
	"posta.dev/posta/topology"
)

// shelf is an output that keeps answers of several owners.
type shelf struct {
	t   *testing.T
	o   *Output
	h   *roletest.Host
	now time.Time
}

func newShelf(t *testing.T, results int, size topology.Size, share int) *shelf {
	about := roletest.About()
	about.Limits.Results, about.Limits.ResultsSize, about.Limits.ClientShare = results, size, share
	s := &shelf{t: t, o: New(about), now: noon}
	s.h = roletest.NewHost(s.o)
	return s
}

// finish lets a session of an owner end with an answer of some rows.
func (s *shelf) finish(owner, name string, rows int) {
	s.t.Helper()
	x := roletest.Session(s.t, owner+name, analyses.Replica{Of: 1}, nil)
	x.Owner, x.Openers = owner, session.Openers{ours.Hash()}
	if err := s.o.Open(x); err != nil {
		s.t.Fatal(err)
	}
	if rows > 0 {
		if _, err := s.o.Take(x.ID, part("amounts", rows), nil); err != nil {
			s.t.Fatal(err)
		}
	}
	for stream := range 2 {
		if _, err := s.o.End(x.ID, stream, nil); err != nil {
			s.t.Fatal(err)
		}
	}
	s.o.Drop(x.ID, role.Outcome{})
	s.now = s.now.Add(time.Millisecond)
	s.o.Tick(s.now)
}

// keeps returns how many answers each owner has.
func (s *shelf) keeps() map[string]int {
	n := map[string]int{}
	for _, r := range s.o.results {
		n[r.Owner]++
	}
	return n
}

func (s *shelf) ask(owner, name string) protocol.Reply {
	s.t.Helper()
	who := security.Identity{Role: security.Submit, Name: owner}
	r, _ := s.h.AskAs(s.t, who, s.now, 1, protocol.Request{Type: protocol.Results, Session: roletest.ID(owner + name), Token: ours})
	return r
}

// TestR16_AClientsAnswersReplaceItsOwn: however many answers one client or two leave, and however small they are, those of another client
// stay.
func TestR16_AClientsAnswersReplaceItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		share    int
		flooders []string
		most     int // answers of a flooder
	}{
		"one client floods":                    {50, []string{"ann"}, 20},
		"two clients flood":                    {50, []string{"ann", "bob"}, 20},
		"the share is all":                     {100, []string{"ann"}, 38},
		"the share is all, and two flood":      {100, []string{"ann", "bob"}, 38},
		"the smallest share allows one answer": {1, []string{"ann"}, 1},
		"without shares":                       {0, []string{"ann", "bob"}, 38},
	} {
		s := newShelf(t, 40, topology.Size(1<<30), c.share)
		s.finish("olga", "1", 10)
		if c.share > 1 || c.share == 0 {
			s.finish("olga", "2", 10)
		}
		first := s.keeps()["olga"]
		for i := range 300 {
			for _, who := range c.flooders {
				s.finish(who, fmt.Sprint(i), 0)
			}
		}
		keeps := s.keeps()
		if keeps["olga"] != first || s.ask("olga", "1").State != session.Done {
			t.Errorf("%s: olga keeps %d of %d answers", name, keeps["olga"], first)
		}
		for _, who := range c.flooders {
			if keeps[who] > c.most || keeps[who] == 0 || s.ask(who, "299").State != session.Done {
				t.Errorf("%s: %s keeps %d answers, and may have %d", name, who, keeps[who], c.most)
			}
			if r := s.ask(who, "0"); r.Err.Code != protocol.ErrExpired || !strings.Contains(r.Err.Message, "limits.") {
				t.Errorf("%s: the first answer of %s: %+v", name, who, r)
			}
		}
		if n := len(s.o.results); n > 40 {
			t.Errorf("%s: %d answers are kept", name, n)
		}
	}
}

// TestR16_AClientsBytesReplaceItsOwn: the same for bytes. A client may always keep one answer, however large it is.
func TestR16_AClientsBytesReplaceItsOwn(t *testing.T) {
	s := newShelf(t, 1000, 4000, 50)
	for i := range 10 {
		s.finish("olga", fmt.Sprint(i), 10)
	}
	has := s.keeps()["olga"]
	for i := range 30 {
		s.finish("ann", fmt.Sprint(i), 100)
	}
	if keeps := s.keeps(); keeps["olga"] != has || keeps["ann"] < 2 || keeps["ann"] > 20 {
		t.Errorf("olga keeps %d of %d answers, ann %d", keeps["olga"], has, keeps["ann"])
	}
	if r := s.ask("ann", "0"); !strings.Contains(r.Err.Message, "limits.client_share = 50 % of limits.results_size = 4000B") {
		t.Errorf("%+v", r)
	}
	s.finish("ann", "large", 600)
	if keeps := s.keeps(); keeps["olga"] != has || keeps["ann"] != 1 || s.ask("ann", "large").State != session.Done {
		t.Errorf("with one large answer: %v of %d", keeps, has)
	}
}

// TestR16_PollsAreSharedFairly: a client that waits for its answer in many connections ends none of the polls of others.
func TestR16_PollsAreSharedFairly(t *testing.T) {
	o, h := alices(t)
	h.AskAs(t, olga, noon, 1, results(1, time.Minute))
	for i := range 2 * maxPolls {
		h.AskAs(t, alice, noon, role.Peer(i+2), results(1, time.Minute))
	}
	if _, ended := h.Answer(1); ended || len(o.waiting) != maxPolls {
		t.Fatalf("%d polls wait, and the first one of another client was ended: %v", len(o.waiting), ended)
	}
}
