package core

import (
	"fmt"
	"strings"
	"testing"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// holder is an adder that holds as many bytes as its words have.
type holder struct{ *adder }

func (h holder) Held(id session.ID) (n int) {
	if w := h.sessions[id]; w != nil {
		n = len(strings.Join(w.kept, ""))
	}
	return n
}

// tenants is a node whose sessions hold 100 bytes together, one session 20, and one owner half of it for sure.
type tenants struct {
	*driver
	holder
	owners map[string]string // by session
}

func newTenants(t *testing.T, share int) *tenants {
	x := &tenants{newDriver(t, 1, "hash"), holder{newAdder()}, map[string]string{}}
	x.c.cfg.Roles, x.c.cfg.Held, x.c.cfg.Memory, x.c.cfg.Share = []role.Role{x.holder}, 100, 20, share
	return x
}

func (x *tenants) opens(owner, id string) {
	x.owners[id] = owner
	x.says(id, link.Open, 0, string(announcementBy(owner, []string{owner})))
}

func (x *tenants) holds(id string, bytes int) {
	x.says(id, link.Data, 0, strings.Repeat("x", bytes))
}

// failed returns why a session has failed; empty if it runs.
func (x *tenants) failed(id string) string {
	x.t.Helper()
	why, _ := failed(x.t, x.c, id)
	return why
}

// sums adds up what each owner holds, and all of them.
func (x *tenants) sums() (of map[string]int, all int) {
	of = map[string]int{}
	for id, owner := range x.owners {
		n := x.Held(sessionOf(id))
		of[owner] += n
		all += n
	}
	return of, all
}

// TestR16_AGreedyOwnerLeavesMemoryToOthers: alone it holds all but what a session may have. When that is not enough for another owner, the
// greedy one gives way.
func TestR16_AGreedyOwnerLeavesMemoryToOthers(t *testing.T) {
	x := newTenants(t, 50)
	for i := range 4 {
		id := fmt.Sprint("g", i)
		x.opens("greedy", id)
		x.holds(id, 20)
	}
	x.commit()
	if of, _ := x.sums(); of["greedy"] != 80 {
		t.Fatalf("alone it holds %d", of["greedy"])
	}
	x.opens("modest", "m0")
	x.holds("m0", 20)
	x.commit()
	if of, _ := x.sums(); of["greedy"] != 80 || of["modest"] != 20 {
		t.Fatalf("there is room for both, and they hold %v", of)
	}
	x.opens("greedy", "g4")
	x.holds("g4", 1)
	x.commit()
	if of, _ := x.sums(); of["greedy"] != 61 || of["modest"] != 20 {
		t.Fatalf("the greedy owner holds the other's room: %v", of)
	}
	for i := range 3 {
		id := fmt.Sprint("m", 1+i)
		x.opens("modest", id)
		x.holds(id, 10)
	}
	x.commit()
	if of, _ := x.sums(); of["greedy"] != 41 || of["modest"] != 50 {
		t.Fatalf("the modest owner does not get its share: %v", of)
	}
	why, fails := "", 0
	for id := range x.owners {
		if w := x.failed(id); w != "" {
			why, fails = w, fails+1
		}
	}
	if fails != 2 || !strings.Contains(why, "node me-1 ") || !strings.Contains(why, "limits.node_memory is 100,") ||
		!strings.Contains(why, " 50 for sure (limits.client_share) and 80 at most") {
		t.Fatalf("%d sessions failed: %s", fails, why)
	}
}

// TestR16_WithoutKeysAllMemoryIsEverybodys: an owner without a name has no share, so only the sum counts.
func TestR16_WithoutKeysAllMemoryIsEverybodys(t *testing.T) {
	x := newTenants(t, 50)
	x.opens("", "s")
	x.opens("", "t")
	x.holds("s", 40)
	x.holds("t", 60)
	x.commit()
	if _, all := x.sums(); all != 100 {
		t.Fatalf("%d bytes are held", all)
	}
	x.holds("s", 1)
	x.commit()
	if x.failed("s") != "" || x.failed("t") == "" {
		t.Fatalf("s: %q, t: %q", x.failed("s"), x.failed("t"))
	}
}

// FuzzMemory: whatever sessions hold, they hold no more than the node has, and no owner more than it may. Sessions fail only if that is
// necessary, and only those of an owner that holds at least as much as all owners would get of an equal division.
func FuzzMemory(f *testing.F) {
	f.Add([]byte{0, 21, 42, 63, 84, 105, 126, 147, 168, 189, 210, 231, 252}, uint8(50))
	f.Add([]byte{255, 0, 255, 0, 255, 3, 7, 1, 1, 1}, uint8(99))
	f.Fuzz(func(t *testing.T, acts []byte, share uint8) {
		share = 1 + share%100
		x, ids := newTenants(t, int(share)), map[byte]string{} // ids of the sessions that are fed
		for i, b := range acts[:min(len(acts), 60)] {
			owner := string('a' + rune(b%4))
			id := ids[b%16]
			if x.c.sessions[sessionOf(id)] == nil {
				id = fmt.Sprint(owner, i)
				ids[b%16] = id
				x.opens(owner, id)
			}
			x.holds(id, 1+int(b/16))
			x.c.Advance()
			if b%3 == 0 {
				continue // more of the same commit
			}
			before, total := x.sums()
			running := len(x.c.sessions)
			x.commit()
			after, all := x.sums()
			most := max(int(share), 80)
			fits := total <= 100
			for owner, n := range before {
				if n > most {
					fits = false
				}
				if after[owner] > most {
					t.Fatalf("%s holds %d of %d, and may hold %d", owner, after[owner], all, most)
				}
				if after[owner] < n && n*len(before) < 100 && n <= most {
					t.Fatalf("%s loses a session although it holds only %d of %v", owner, n, before)
				}
			}
			if all > 100 || fits && len(x.c.sessions) < running {
				t.Fatalf("%d bytes are held, %v before, and %d of %d sessions are left", all, before, len(x.c.sessions), running)
			}
		}
	})
}
