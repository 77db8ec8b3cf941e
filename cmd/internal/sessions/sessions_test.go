package sessions

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestS5_SessionsShowTheirOwners: clients that may see other clients' sessions see their owners. If all sessions belong to one client, the
// column is left out.
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
		printSessions(&call.Call{Out: &text}, monitor.Merge(c.found))
		if err := printSessionsJSON(&call.Call{Out: &asJSON}, monitor.Merge(c.found)); err != nil {
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
		if named := strings.Count(asJSON.String(), `"owner": "ann"`) + strings.Count(asJSON.String(), `"owner":"ann"`); named > 1 ||
			(named == 1) != (c.not == "") {
			t.Errorf("%s:\n%s", name, &asJSON)
		}
	}
}

// TestSessionsShowTheirStatements: the table shortens statements, and escapes control characters, which could move the cursor.
func TestSessionsShowTheirStatements(t *testing.T) {
	asks := "pass 2, the last one, of: SELECT '\x1b[2J'" + strings.Repeat("ä", 200)
	list := monitor.Merge([]protocol.SessionInfo{
		{Session: session.ID{1}, Analysis: "sql", State: session.Running, Node: "output-1"},
		{Session: session.ID{1}, Analysis: "sql", State: session.Running, Node: "input-1", Asks: asks},
	})
	var text, asJSON bytes.Buffer
	printSessions(&call.Call{Out: &text}, list)
	if err := printSessionsJSON(&call.Call{Out: &asJSON}, list); err != nil {
		t.Fatal(err)
	}
	if got := text.String(); !strings.Contains(got, "asks\n") || !strings.Contains(got, "pass 2, the last one, of: SELECT '") ||
		strings.ContainsRune(got, 0x1b) || strings.Count(got, "ä") > 100 || !strings.Contains(got, "…") {
		t.Errorf("%q", got)
	}
	var said struct{ Sessions []struct{ Asks string } }
	if err := json.Unmarshal(asJSON.Bytes(), &said); err != nil || len(said.Sessions) != 1 || said.Sessions[0].Asks != asks {
		t.Errorf("%v: %s", err, &asJSON)
	}
}
