package jsonl

// member is the text before a value of an object, with what is wanted of the value: `{"a":1, "b":2}` has the members `"a":` and `, "b":`.
//
// Most objects have the keys of the objects before them, in the same order. So each member knows which one followed it the last time, and
// if the line goes on with its text, a comparison has read the comma, the key, the colon, and what is wanted. A guess that is wrong costs
// a look into a map, and is never believed: each text was read as a key before, and means the same wherever it follows a value.
type member struct {
	text  string
	below *node
	next  *member
}

// Bounds of what is remembered of each object's place, for files whose keys are data.
const (
	mostMembers   = 1 << 12
	longestMember = 1 << 8
)

// following returns the member that should follow m, nil if nothing is known.
func (m *member) following() *member {
	if m == nil {
		return nil
	}
	return m.next
}

// remember notes that a text followed the member before, and returns its member; or before, if it is not remembered.
func (n *node) remember(before *member, text []byte, below *node) *member {
	if before == nil || len(text) > longestMember {
		return before
	}
	m := n.known[string(text)]
	if m == nil {
		if len(n.known) == mostMembers {
			return before
		}
		if n.known == nil {
			n.known = make(map[string]*member)
		}
		m = &member{text: string(text), below: below}
		n.known[m.text] = m
	}
	before.next = m
	return m
}
