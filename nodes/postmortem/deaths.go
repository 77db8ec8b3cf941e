package postmortem

import (
	"fmt"
	"maps"
	"time"
)

// Died is how the last process of a node ended, where that was its own fault. The medic that starts the node again leaves it.
type Died struct {
	Cause  string `json:"cause"`
	Memory bool   `json:"memory,omitempty"` // it took too much
}

const diedFile = "died"

// WriteDied leaves how the last process ended.
func WriteDied(dir string, d Died) error { return write(dir, diedFile, d) }

// Encode returns the note as a file, for who writes it elsewhere.
func (d Died) Encode() (name string, data []byte, err error) {
	data, err = encode(diedFile, d)
	return diedFile, data, err
}

// ReadDied returns how the last process ended; false if nobody has left that.
func ReadDied(dir string) (d Died, ok bool, err error) {
	ok, err = read(dir, diedFile, &d)
	return d, ok, err
}

// RemoveDied removes the note. That there is none is no error.
func RemoveDied(dir string) error { return remove(dir, diedFile) }

// Deaths is how often in a row the node has died by its own fault with a session open.
type Deaths struct {
	Sessions map[string]int `json:"sessions"`
	Last     Died           `json:"last"`
}

const (
	deathsFile = "deaths"
	// maxDeaths is how often in a row a node may die with a session open. Then the session is given up: the next life would die of it again.
	maxDeaths = 3
	// RowTimeout is how long a life lasts that ends a row.
	RowTimeout = 10 * time.Minute
)

// WriteDeaths replaces the count; one of no session is no file.
func WriteDeaths(dir string, d Deaths) error {
	if len(d.Sessions) == 0 {
		return remove(dir, deathsFile)
	}
	return write(dir, deathsFile, d)
}

// ReadDeaths returns the count; an empty one if there is none.
func ReadDeaths(dir string) (d Deaths, err error) {
	_, err = read(dir, deathsFile, &d)
	return d, err
}

// Settle takes the sessions that were given up out of the count, when they have failed durably. The row of the others goes on. A count that cannot
// be read is removed.
func Settle(dir string) error {
	d, err := ReadDeaths(dir)
	if err != nil {
		return RemoveDeaths(dir)
	}
	d.Over()
	return WriteDeaths(dir, d)
}

// RemoveDeaths ends the row.
func RemoveDeaths(dir string) error { return remove(dir, deathsFile) }

// After is the count after another death with these sessions open. The row of a session that was not open has ended.
func (d Deaths) After(died Died, open []string) Deaths {
	next := Deaths{Sessions: map[string]int{}, Last: died}
	for _, id := range open {
		next.Sessions[id] = d.Sessions[id] + 1
	}
	return next
}

// Over takes the sessions that the node has died of too often out of the count, and returns them.
func (d *Deaths) Over() (sessions []string) {
	maps.DeleteFunc(d.Sessions, func(id string, n int) bool {
		if n >= maxDeaths {
			sessions = append(sessions, id)
		}
		return n >= maxDeaths
	})
	return sessions
}

// Reason says to a session's client what happened.
func (d *Deaths) Reason(node string) string {
	advice := "its log and `posta status` say more; the data or the analysis may be what it does not survive"
	if d.Last.Memory {
		advice = "give it more memory, more replicas, or the session less data"
	}
	return fmt.Sprintf("node %s died %d times in a row while it worked on this session (the last time: %s): %s", node, maxDeaths, d.Last.Cause, advice)
}
