package console

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/medic/core"
)

// Breaker injects faults, as `posta chaos` does. A console has one only if its user may operate the cluster.
type Breaker struct {
	Kinds   []string // kinds of faults that can be injected here
	Targets []string // nodes and medics
	Lasts   time.Duration
	// Break injects a fault and says what it did. Break itself ends a lasting fault after Lasts.
	Break func(ctx context.Context, kind, target string) (string, error)
}

// Bounds of faults.
const (
	harmsKept = 12
	breakIn   = 10 * time.Second
)

// harm is a fault that was injected from a page.
type harm struct {
	target, kind string
	at           time.Time
	said, wrong  string
}

// harms are the last faults that were injected.
type harms struct {
	mu  sync.Mutex
	all []harm // oldest first
}

func (h *harms) add(one harm) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == harmsKept {
		h.all = slices.Delete(h.all, 0, 1)
	}
	h.all = append(h.all, one)
}

func (h *harms) list() []harm {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}

// harmRow is a fault and its consequences.
type harmRow struct {
	Target, Kind, At, When, Said string
	Sign                         sign
	Outcome                      string
}

// harmRows returns the faults, newest first. It pairs each fault with the first incident of its target that was noticed after the fault and
// before the target's next fault.
func (s *Seen) harmRows() (rows []harmRow) {
	incidents := core.Incidents(s.Medics.Entries)
	until := map[string]time.Time{}
	for i := len(s.Harms) - 1; i >= 0; i-- {
		h := &s.Harms[i]
		r := harmRow{Target: clean(h.target), Kind: clean(h.kind), At: h.at.UTC().Format(time.RFC3339), When: h.at.UTC().Format(time.TimeOnly),
			Said: clean(h.said), Sign: care, Outcome: "nobody has noticed it yet"}
		if h.wrong != "" {
			r.Sign, r.Outcome = dead, "it did not happen: "+clean(h.wrong)
		}
		for j := range incidents {
			n := &incidents[j]
			end, ended := until[h.target]
			if h.wrong != "" || string(n.Node) != h.target || n.At.Before(h.at) || ended && !n.At.Before(end) {
				continue
			}
			in := newIncidentRow(n)
			if r.Sign, r.Outcome = care, "noticed after "+in.Detected; n.Open {
				break
			}
			r.Sign = fine
			r.Outcome += ", started again after " + in.Restarted + ", records flow again after " + in.Flowing + ": " + in.Total + " in all"
			break
		}
		until[h.target] = h.at
		rows = append(rows, r)
	}
	return rows
}

// breakForm is the form that injects a fault. Target is preselected.
type breakForm struct {
	Targets []string
	Target  string
	Kinds   []breakKind
}

type breakKind struct{ Kind, Word, About string }

func (s *Server) breakForm(target string, user User) *breakForm {
	b := s.cfg.Break
	if b == nil || !user.operates() || target != "" && !slices.Contains(b.Targets, target) {
		return nil
	}
	f := &breakForm{Targets: b.Targets, Target: target}
	lasts := display.Span(b.Lasts)
	for _, k := range []breakKind{
		{"kill", "Kill", "the process ends at once"}, {"pause", "Pause", "it stands still for " + lasts},
		{"hang", "Hang", "it stands still until a medic kills it"},
		{"cut", "Cut off", "it is off the network for " + lasts},
	} {
		if slices.Contains(b.Kinds, k.Kind) {
			f.Kinds = append(f.Kinds, k)
		}
	}
	return f
}

// harm injects a fault.
func (s *Server) harm(w http.ResponseWriter, r *http.Request, user User) {
	r.Body = http.MaxBytesReader(w, r.Body, maxToken)
	kind, target, b := r.PostFormValue("fault"), r.PostFormValue("target"), s.cfg.Break
	switch {
	case b == nil || !user.operates():
		http.Error(w, "your key does not let you do this: it needs the role operate", http.StatusForbidden)
		return
	case !slices.Contains(b.Kinds, kind) || !slices.Contains(b.Targets, target):
		http.Error(w, "there is no such fault, or nothing of that name", http.StatusBadRequest)
		return
	}
	one := harm{target: target, kind: kind, at: time.Now()}
	ctx, cancel := context.WithTimeout(s.life, breakIn) // not the request's context: a browser that leaves must not stop the fault halfway
	defer cancel()
	said, err := b.Break(ctx, kind, target)
	if one.said = said; err != nil {
		one.wrong = err.Error()
	}
	s.harms.add(one)
	at := place{kind: "overview"}
	if r.PostForm.Has("here") {
		at = place{kind: "node", id: target}
	}
	http.Redirect(w, r, at.path(), http.StatusSeeOther)
}
