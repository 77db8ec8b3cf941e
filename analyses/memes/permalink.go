package memes

import "bytes"

var beforeID = []byte("/comments/")

// postOf returns the id of the post that a permalink belongs to, false if it has none.
func postOf(permalink []byte) (id []byte, ok bool) {
	at := bytes.Index(permalink, beforeID)
	if at < 0 {
		return nil, false
	}
	id = permalink[at+len(beforeID):]
	for i, c := range id {
		if c == '/' || c == '?' || c == '#' {
			id = id[:i]
			break
		}
	}
	return id, len(id) > 0
}
