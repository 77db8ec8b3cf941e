package monitor

// FilesJSON is how far the client of a session is with its files. It is left out if the client does not tell it.
type FilesJSON struct {
	FilesRead uint64 `json:"files_read,omitempty"` // in a unit of the client's, usually bytes
	FilesSize uint64 `json:"files_size,omitempty"`
	LeftMS    int64  `json:"left_ms,omitempty"` // until all is read; left out if it is not known
}

// FilesAsJSON returns how far the client of a session is.
func FilesAsJSON(s *Session) FilesJSON {
	return FilesJSON{s.FilesRead, s.FilesSize, s.FilesLeft.Milliseconds()}
}
