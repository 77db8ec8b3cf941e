package infer

import (
	"fmt"
	"regexp"
	"strconv"

	"posta.dev/posta/analyses/sql/types"
)

// Wider says that the type that samples gave a column does not hold one of its values.
type Wider struct {
	Table, Column string
	Was, Is       types.Kind
	Value         string
}

// mostQuoted bounds how many bytes of a value a message quotes.
const mostQuoted = 40

func (w *Wider) Error() string {
	return fmt.Sprintf("column %q of table %q is %s in the samples, and %s is needed for %q", w.Column, w.Table, w.Was, w.Is,
		w.Value[:min(len(w.Value), mostQuoted)])
}

var widerText = regexp.MustCompile(
	`column ("(?:[^"\\]|\\.)*") of table ("(?:[^"\\]|\\.)*") is (BIGINT|DATE) in the samples, and (DOUBLE|TIMESTAMP) is needed for ("(?:[^"\\]|\\.)*")`)

// ParseWider finds the text of a Wider in the reason for which a session failed. A Wider crosses the network as this text.
func ParseWider(reason string) (*Wider, bool) {
	m := widerText.FindStringSubmatch(reason)
	if m == nil {
		return nil, false
	}
	w := &Wider{Was: types.BigInt, Is: types.Double}
	if m[3] == "DATE" {
		w.Was, w.Is = types.Date, types.Timestamp
	}
	var errs [3]error
	w.Column, errs[0] = strconv.Unquote(m[1])
	w.Table, errs[1] = strconv.Unquote(m[2])
	w.Value, errs[2] = strconv.Unquote(m[5])
	return w, errs == [3]error{} && (m[4] == "TIMESTAMP") == (w.Is == types.Timestamp)
}
