package exit

import (
	"errors"
	"regexp"
	"strings"

	"posta.dev/posta/protocol"
)

// failure matches the error of a session whose statement failed for a row, as nodes and the client write it: the session, or the upload
// under way; the node, the batch, the row, and the place in the statement with the excerpt.
var failure = regexp.MustCompile(
	`(?s)(?:sql: )?(?:session ([0-9a-f-]{36}) of sql|upload [^\n]*?): analysis sql failed in stage \w+ \(node ([\w.-]+)\): (.*?)(line \d+, column \d+: [^\n]*\n    [^\n]*\n[ \t]*\^)(\n    [^\n]*?)? \(failed\)`)

// row matches the place of the row in such a text, as the joiner and the reducer write it. The text before it is the place of the batch.
var row = regexp.MustCompile(`(?s)^(?:.*: )?([^\n]+?), (at or behind line|line) (\d+): $`)

// FailedStatement rewrites the error of a failed statement: what people need comes first, the session and the node last. It returns all
// other texts unchanged.
func FailedStatement(text string) string {
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

// stray matches the error of a session in which a stray quote has swallowed rows, as csv.RowError says it behind what nodes write, or the
// client if it parses rows: the command, the file, and the line with what is wrong.
var stray = regexp.MustCompile(`(?m)(\w+: )?(?:(?:session [0-9a-f-]{36} of \w+|upload [^\n]*?): ` +
	`analysis \w+ failed in stage \w+ \(node [\w.-]+\): stream [^\n]* from line \d+: |upload [^\n:]*: )([^\n]+)(, line \d+: the quote that opens field [^(\n]*?)(?: \(failed\)|$)`)

// isStray reports whether a session failed because of a stray quote, which is a mistake in the file.
func isStray(err error) bool {
	return errors.Is(err, protocol.ErrFailed) && stray.MatchString(err.Error())
}

// strayQuote rewrites the error of such a session: the file and the line come first, and nodes are not named. It returns all other texts
// unchanged.
func strayQuote(text string) string {
	return stray.ReplaceAllStringFunc(text, func(found string) string {
		m := stray.FindStringSubmatch(found)
		if m[1] == "sql: " && strings.Contains(m[3], "is closed much later") {
			m[3] += "; if the field is one text, read the file with read_csv('" + strings.ReplaceAll(m[2], "'", "''") + "', multiline = true)"
		}
		return m[2] + m[3]
	})
}
