package postmortem

import "fmt"

// Working is the note of work that takes long. The node writes it while the work is under way and removes it afterwards. If the next
// process finds it, the last one has died of the work, or during it: by its own fault, by a medic's hand because it was silent, or by
// anybody else's.
type Working struct {
	Session string `json:"session"`
	Role    string `json:"role,omitempty"`
	Stream  string `json:"stream,omitempty"`
}

const workingFile = "working"

// WriteWorking writes the note of work that takes long.
func WriteWorking(dir string, w Working) error { return write(dir, workingFile, w) }

// ReadWorking returns the note; false if there is none.
func ReadWorking(dir string) (w Working, ok bool, err error) {
	ok, err = read(dir, workingFile, &w)
	return w, ok, err
}

// RemoveWorking removes the note. A missing note is not an error.
func RemoveWorking(dir string) error { return remove(dir, workingFile) }

// Attempt counts the deaths in a row during long work on a session that has got no further in between.
type Attempt struct {
	Times int     `json:"times"`
	At    uint64  `json:"at"` // the last record of the log that is about the session; 0: none is left
	Last  Working `json:"last"`
}

// Tried returns the count after a death during long work on a session. at is the last record of the log that is about the session. If it is
// another one than at the death before, the session has got further, and counting starts again: nodes may be killed at any time, and the
// sessions that work there meanwhile are innocent as long as they come to an end some time.
func (d Deaths) Tried(w Working, at uint64) Deaths {
	a := d.Attempts[w.Session]
	if a.At != at {
		a.Times = 0
	}
	attempts := map[string]Attempt{}
	for id, a := range d.Attempts {
		attempts[id] = a
	}
	attempts[w.Session] = Attempt{Times: a.Times + 1, At: at, Last: w}
	d.Attempts = attempts
	return d
}

// reason says to the session's client what happened.
func (a Attempt) reason(node string) string {
	on := ""
	if a.Last.Stream != "" {
		on = " on stream " + a.Last.Stream
	}
	return fmt.Sprintf(
		"node %s died %d times in a row while it worked long for this session in stage %s%s, and the session got no further in between: "+
			"ask for less at once; the node's log and `posta status` say more", node, a.Times, a.Last.Role, on)
}
