package monitor

// FilesJSON is how much of its files the client of a session has read. It is left out if the client does not report it.
type FilesJSON struct {
	FilesRead uint64 `json:"files_read,omitempty"` // in a unit of the client's, usually bytes
	FilesSize uint64 `json:"files_size,omitempty"`
	LeftMS    int64  `json:"left_ms,omitempty"` // until all is read; left out if it is not known
}

// FilesAsJSON returns how much of its files the client of a session has read.
func FilesAsJSON(s *Session) FilesJSON {
	return FilesJSON{s.FilesRead, s.FilesSize, s.FilesLeft.Milliseconds()}
}
