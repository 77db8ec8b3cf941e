package incidents

import (
	"fmt"
	"strings"
	"time"

	"posta.dev/posta/internal/units"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/medic/core"
)

// EntryText returns an entry of the journal as a line for people.
func EntryText(e *core.Entry) string {
	by := fmt.Sprintf("%s (generation %d)", e.Leader, e.Gen)
	switch e.Kind {
	case core.Elected:
		return by + " leads"
	case core.Suspected:
		text := fmt.Sprintf("%s: %s for %s", e.Node, e.Text, display.Span(e.Silent))
		if e.Wait > 0 {
			text += fmt.Sprintf(", number %d in a row: restarted in %s", e.InARow, display.Span(e.Wait))
		}
		return text
	case core.Restarted:
		text := fmt.Sprintf("%s: restarted by %s in %s", e.Node, by, display.Span(e.Took))
		if e.Text != "" {
			text += "; the old process: " + e.Text
		}
		return text
	case core.Adopted:
		return fmt.Sprintf("%s: had been restarted already", e.Node)
	case core.Missed:
		return fmt.Sprintf("%s: could not be restarted: %s", e.Node, exit.OneLine(fmt.Errorf("%s", e.Text)))
	case core.Recovered:
		return fmt.Sprintf("%s: at work again, incarnation %d", e.Node, e.Incarnation)
	}
	return fmt.Sprintf("%s: something that this version does not know", e.Node)
}

// shownIncidents is how many of the last incidents status shows.
const shownIncidents = 8

// MedicLines returns the medics' part of the status screen.
func MedicLines(m monitor.Medics) []string {
	if len(m.All) == 0 {
		return nil
	}
	up := 0
	table := display.Table{Head: []string{"medic", "state", "inc", "pid", "heard", "up"}, Right: []bool{false, false, true, true, true, true}}
	for i := range m.All {
		if m.All[i].State() != "silent" {
			up++
		}
		table.Rows = append(table.Rows, medicRow(&m.All[i]))
	}
	head := fmt.Sprintf("\n%d of %s up, no leader", up, units.Plural(len(m.All), "medic"))
	if m.Led {
		head = fmt.Sprintf("\n%d of %s up, %s leads in generation %d", up, units.Plural(len(m.All), "medic"), m.Term.Leader, m.Term.Gen)
	}
	lines := append([]string{head}, table.Lines()...)
	return append(lines, incidentLines(core.Incidents(m.Entries))...)
}

func medicRow(m *monitor.Medic) []string {
	if !m.Heard {
		return []string{string(m.Node.ID), "silent", "", "", "never", ""}
	}
	b := &m.Beat
	return []string{string(m.Node.ID), m.State(), fmt.Sprint(b.ID.Incarnation), fmt.Sprint(b.ID.PID), display.Span(m.Age) + " ago",
		display.Span(b.Uptime)}
}

func incidentLines(all []core.Incident) []string {
	if len(all) == 0 {
		return nil
	}
	table := display.Table{
		Head:  []string{"incident", "when", "cause", "detect", "restart", "recover", "restarts"},
		Right: []bool{false, false, false, true, true, true, true},
	}
	for _, i := range all[max(0, len(all)-shownIncidents):] {
		recovery := display.Span(i.Recovery)
		if i.Open {
			recovery = "not yet"
		}
		table.Rows = append(table.Rows, []string{string(i.Node), i.At.Format(time.TimeOnly), strings.TrimSpace(i.Cause), display.Span(i.Silent),
			display.Span(i.Restart), recovery, fmt.Sprint(i.Restarts)})
	}
	return append([]string{""}, table.Lines()...)
}
