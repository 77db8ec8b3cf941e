package cmd

import (
	"bytes"
	"strings"
	"testing"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestS5_SessionsShowTheirOwners: to whoever may see sessions of others. Where all are one client's nothing is said of it.
func TestS5_SessionsShowTheirOwners(t *testing.T) {
	at := func(id byte, analysis, owner, node string) protocol.SessionInfo {
		return protocol.SessionInfo{Session: session.ID{id}, Analysis: analysis, Owner: owner, State: session.Running, Node: node}
	}
	for name, c := range map[string]struct {
		found []protocol.SessionInfo
		want  []string
		not   string
	}{
		"owners": {
			[]protocol.SessionInfo{at(1, "", "", "output-1"), at(1, "bikes", "ann", "input-1"), at(2, "movies", "", "input-1")},
			[]string{"owner", "input-1 output-1  ann", "input-1           -", "bikes"}, "",
		},
		"no owners": {[]protocol.SessionInfo{at(1, "bikes", "", "input-1")}, []string{"bikes"}, "owner"},
	} {
		var text, asJSON bytes.Buffer
		(&command{Console: Console{Out: &text}}).printSessions(merge(c.found))
		if err := (&command{Console: Console{Out: &asJSON}}).printSessionsJSON(merge(c.found)); err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(text.String(), w) {
				t.Errorf("%s: no %q in\n%s", name, w, &text)
			}
		}
		if c.not != "" && (strings.Contains(text.String(), c.not) || strings.Contains(asJSON.String(), c.not)) {
			t.Errorf("%s: %q in\n%s%s", name, c.not, &text, &asJSON)
		}
		if named := strings.Count(asJSON.String(), `"owner": "ann"`) + strings.Count(asJSON.String(), `"owner":"ann"`); named > 1 || (named == 1) != (c.not == "") {
			t.Errorf("%s:\n%s", name, &asJSON)
		}
	}
}
