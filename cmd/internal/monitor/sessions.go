package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// Session is a session as all nodes together report it.
type Session struct {
	ID       session.ID
	Analysis string
	Owner    string // empty: the local operator's
	State    session.State
	Age      time.Duration
	Bytes    uint64 // CSV at inputs, answers at outputs
	Asks     string // what the session asks, if the name of its analysis does not say that
	Nodes    []string

	// How many bytes of its files the client has read, out of how many, and how long the rest will take: see protocol.SessionInfo.
	FilesRead, FilesSize uint64
	FilesLeft            time.Duration

	At []protocol.SessionInfo // what each node reports
}

// Merge makes one session of what several nodes report of it: an output knows how it ended, and an input how long ago it began. The oldest
// session comes first.
func Merge(found []protocol.SessionInfo) []Session {
	byID := map[session.ID]*Session{}
	for _, s := range found {
		v := byID[s.Session]
		if v == nil {
			v = &Session{ID: s.Session, State: s.State}
			byID[s.Session] = v
		}
		v.Analysis, v.Owner = cmp.Or(v.Analysis, s.Analysis), cmp.Or(v.Owner, s.Owner) // an output that only heard of a failure knows neither
		v.Asks = cmp.Or(v.Asks, s.Asks)
		if s.State != session.Running {
			v.State = s.State
		}
		v.Age, v.Bytes = max(v.Age, s.Age), v.Bytes+s.Bytes
		if s.FilesSize > 0 && (v.FilesSize == 0 || s.FilesRead > v.FilesRead) { // the client tells all inputs; the largest number is the newest
			v.FilesRead, v.FilesSize, v.FilesLeft = s.FilesRead, s.FilesSize, s.FilesLeft
		}
		v.Nodes, v.At = append(v.Nodes, s.Node), append(v.At, s)
	}
	list := make([]Session, 0, len(byID))
	for _, v := range byID {
		slices.Sort(v.Nodes)
		if v.State != session.Running { // an input that has not heard of the end yet
			v.FilesRead, v.FilesSize, v.FilesLeft = 0, 0, 0
		}
		list = append(list, *v)
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), slices.Compare(a.ID[:], b.ID[:]))
	})
	return list
}

// Files returns how far the client is with its files, like "42%, ETA 3m"; empty if the client does not tell it. Without an estimate it is
// the share alone.
func (s *Session) Files() string {
	if s.FilesSize == 0 {
		return ""
	}
	share := int(100 * (float64(min(s.FilesRead, s.FilesSize)) / float64(s.FilesSize)))
	if share == 100 && s.FilesRead < s.FilesSize { // rounded up
		share = 99
	}
	text := strconv.Itoa(share) + "%"
	if s.FilesLeft > 0 && share < 100 {
		text += ", ETA " + display.ETA(s.FilesLeft)
	}
	return text
}
