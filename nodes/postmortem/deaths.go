package postmortem

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Died is the note of how the last process of a node ended by its own fault. The medic that starts the node again writes it.
type Died struct {
	Cause  string `json:"cause"`
	Memory bool   `json:"memory,omitempty"` // the process took too much memory
}

const diedFile = "died"

// WriteDied writes the note of how the last process ended.
func WriteDied(dir string, d Died) error { return write(dir, diedFile, d) }

// Encode returns the note as a file, for callers that write it elsewhere.
func (d Died) Encode() (name string, data []byte, err error) {
	data, err = encode(diedFile, d)
	return diedFile, data, err
}

// ReadDied returns how the last process ended; false if there is no note.
func ReadDied(dir string) (d Died, ok bool, err error) {
	ok, err = read(dir, diedFile, &d)
	return d, ok, err
}

// RemoveDied removes the note. A missing note is not an error.
func RemoveDied(dir string) error { return remove(dir, diedFile) }

// Deaths counts, for each session, how often in a row the node has died by its own fault while that session was open. Attempts has the
// sessions during whose work it died, by whatever hand.
type Deaths struct {
	Sessions map[string]int     `json:"sessions"`
	Last     Died               `json:"last"`
	Attempts map[string]Attempt `json:"attempts,omitempty"`
}

const (
	deathsFile = "deaths"
	// maxDeaths is the number of deaths in a row after which the node gives up a session that was open at each:
	// otherwise it would probably die of the session again.
	maxDeaths = 3
	// RowTimeout ends a row of deaths: a process that lives this long removes the count.
	RowTimeout = 10 * time.Minute
)

// WriteDeaths replaces the count. If no session is left, it removes the file.
func WriteDeaths(dir string, d Deaths) error {
	if len(d.Sessions)+len(d.Attempts) == 0 {
		return remove(dir, deathsFile)
	}
	return write(dir, deathsFile, d)
}

// ReadDeaths returns the count; an empty one if there is no file.
func ReadDeaths(dir string) (d Deaths, err error) {
	_, err = read(dir, deathsFile, &d)
	return d, err
}

// Settle removes the given-up sessions from the count, once their failures are durable. The other sessions keep their
// counts. Settle removes a count that cannot be read.
func Settle(dir string) error {
	d, err := ReadDeaths(dir)
	if err != nil {
		return RemoveDeaths(dir)
	}
	d.Over("")
	return WriteDeaths(dir, d)
}

// RemoveDeaths removes the count.
func RemoveDeaths(dir string) error { return remove(dir, deathsFile) }

// After returns the count after another death while these sessions were open. It drops sessions that were not open.
func (d Deaths) After(died Died, open []string) Deaths {
	next := Deaths{Sessions: map[string]int{}, Last: died, Attempts: d.Attempts}
	for _, id := range open {
		next.Sessions[id] = d.Sessions[id] + 1
	}
	return next
}

// Only removes the counts of attempts for sessions that are not open.
func (d *Deaths) Only(open []string) {
	maps.DeleteFunc(d.Attempts, func(id string, _ Attempt) bool { return !slices.Contains(open, id) })
}

// Over removes the sessions that have reached maxDeaths from the counts, and returns them with the reason for each one's client.
func (d *Deaths) Over(node string) map[string]string {
	over := map[string]string{}
	maps.DeleteFunc(d.Attempts, func(id string, a Attempt) bool {
		if a.Times >= maxDeaths {
			over[id] = a.reason(node)
		}
		return a.Times >= maxDeaths
	})
	maps.DeleteFunc(d.Sessions, func(id string, n int) bool {
		if n >= maxDeaths {
			over[id] = d.reason(node)
		}
		return n >= maxDeaths
	})
	return over
}

// reason says to a session's client what happened.
func (d *Deaths) reason(node string) string {
	advice := "its log and `posta status` say more; the session's data or analysis may be the cause"
	if d.Last.Memory {
		advice = "give the node more memory, the stage more replicas, or the session less data"
	}
	return fmt.Sprintf("node %s died %d times in a row while it worked on this session (the last time: %s): %s", node, maxDeaths,
		d.Last.Cause, advice)
}
