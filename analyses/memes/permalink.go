package memes

import "bytes"

var beforeID = []byte("/comments/")

// permalinks finds post ids. One is used for one file.
type permalinks struct{ begin []byte }

// postOf returns the id of the post that a permalink belongs to, false if it has none. Most begin as the one before them did, up to
// where the id is, and then there is nothing to search: the first place in the one is the first in the other.
func (l *permalinks) postOf(permalink []byte) (id []byte, ok bool) {
	if len(l.begin) == 0 || !bytes.HasPrefix(permalink, l.begin) {
		at := bytes.Index(permalink, beforeID)
		if at < 0 {
			return nil, false
		}
		l.begin = append(l.begin[:0], permalink[:at+len(beforeID)]...)
	}
	id = permalink[len(l.begin):]
	for i, c := range id {
		if c == '/' || c == '?' || c == '#' {
			id = id[:i]
			break
		}
	}
	return id, len(id) > 0
}
