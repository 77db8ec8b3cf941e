package cmd

import "regexp"

// failure matches the error of a session whose statement failed for a row, as nodes and the client write it: the session, or the upload under way;
// the node, the batch, the row, and the place in the statement with the excerpt.
var failure = regexp.MustCompile(`(?s)(?:sql: )?(?:session ([0-9a-f-]{36}) of sql|upload [^\n]*?): analysis sql failed in stage \w+ \(node ([\w.-]+)\): (.*?)(line \d+, column \d+: [^\n]*\n    [^\n]*\n[ \t]*\^)(\n    [^\n]*?)? \(failed\)`)

// row matches the place of the row in such a text, as the joiner and the reducer write it. The text before it is the place of the batch.
var row = regexp.MustCompile(`(?s)^(?:.*: )?([^\n]+?), (at or behind line|line) (\d+): $`)

// failedStatement rewrites the error of a failed statement: what people need comes first, the session and the node last. It returns all other texts
// unchanged.
func failedStatement(text string) string {
	return failure.ReplaceAllStringFunc(text, func(found string) string {
		m := failure.FindStringSubmatch(found)
		out := m[4] + m[5] + "\n"
		if at := row.FindStringSubmatch(m[3]); at != nil {
			out += "    The row is in " + at[1] + ", " + at[2] + " " + at[3] + "; a condition in WHERE or CASE can leave it out.\n"
		}
		if m[1] != "" {
			m[2] = "session " + m[1] + ", " + m[2]
		}
		return out + "    (" + m[2] + ")"
	})
}
