package memes

import "bytes"

var beforeID = []byte("/comments/")

// permalinks finds post ids. Each file has its own.
type permalinks struct{ begin []byte }

// postOf returns the id of the post that a permalink belongs to, false if it has none. Most permalinks begin like the
// previous one, up to the id. Then no search is needed, because the id begins at the same place.
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
