package console

import (
	"fmt"
	"strings"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol/session"
)

// summary is the condition of the cluster in words, at the top of each page.
type summary struct {
	Sign    sign
	Text    string   // nodes
	Leader  string   // of the medics
	Led     bool     // whether a medic that is heard leads
	Medics  bool     // whether there are any
	Remarks []string // one line for each problem
	More    int      // remarks that are left out
}

func (s *Seen) summary() summary {
	count := map[sign]int{}
	for i := range s.Nodes {
		count[s.Nodes[i].Sign()]++
	}
	out := summary{Sign: fine, Medics: len(s.Medics.All) > 0, Led: s.Medics.Led}
	parts := []string{fmt.Sprintf("%d of %s at work", count[fine]+count[care]+count[blocked], units.Plural(len(s.Nodes), "node"))}
	for _, k := range []sign{care, blocked, dead} {
		if count[k] > 0 {
			out.Sign = k
			parts = append(parts, fmt.Sprintf("%d %s", count[k], map[sign]string{care: "with trouble", blocked: "blocked",
				dead: "silent or damaged"}[k]))
		}
	}
	out.Text = strings.Join(parts, ", ")
	up := 0
	for i := range s.Medics.All {
		if s.Medics.All[i].State() != "silent" {
			up++
		}
	}
	out.Leader = fmt.Sprintf("%d of %s up", up, units.Plural(len(s.Medics.All), "medic"))
	if s.Medics.Led {
		out.Leader = fmt.Sprintf("%s leads in generation %d, %s", s.Medics.Term.Leader, s.Medics.Term.Gen, out.Leader)
	} else {
		out.Leader = "no medic leads, so nothing that dies is started again; " + out.Leader
	}
	for _, r := range append(s.Trouble, monitor.Remarks(s.Nodes)...) {
		if len(out.Remarks) == remarksShown {
			out.More++
			continue
		}
		out.Remarks = append(out.Remarks, clean(r))
	}
	return out
}

// sessionsText counts the sessions of a list.
func sessionsText(all []monitor.Session) string {
	running := 0
	for i := range all {
		if all[i].State == session.Running {
			running++
		}
	}
	return fmt.Sprintf("%d running, %d ended", running, len(all)-running)
}
