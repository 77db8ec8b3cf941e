package role

import "posta.dev/posta/protocol/session"

// File is a piece of a role's state that is too large for memory and snapshots. It never changes; its name says what is in it.
type File struct {
	Name  string
	Parts [][]byte // the content, one part after the other
}

// SavedReader reads files that were saved.
type SavedReader interface {
	// ReadFileAt fills all of p with the bytes of a file from off on, or returns an error.
	ReadFileAt(name string, p []byte, off int64) error
}

// Filer is a role with files. Until it hears that a file is saved, the file's content is part of its state like all else.
type Filer interface {
	// Unsaved returns the files that are to be saved. It is asked again until Saved was called with them.
	Unsaved() []File
	// Saved says that files are durable.
	Saved(files []File)
	// Dropped returns, once, the files that are not needed any more once the commit that is being built is stored.
	Dropped() []string
	// Files names all that are needed.
	Files() []string
}

// Holder is a role that keeps data of sessions in memory that cannot move to files. The core adds up what each owner's sessions hold (R16).
type Holder interface {
	Role
	// Held returns how many bytes a session holds, 0 if it is not here. It is called with each commit, so it is cheap.
	Held(id session.ID) int
}

// Spiller is a role that moves state of its sessions from memory to files when the state takes too much memory. The core decides when,
// because the bound is a setting (limits.tables), and records each call of Spill. So a recovery under another bound moves the same state at
// the same places.
type Spiller interface {
	Role
	Filer
	// AttachFiles says what reads the files. It is called once, before anything else.
	AttachFiles(SavedReader)
	// Excess returns the session whose state should move next, if the state of all sessions takes more than limit bytes of memory and some of
	// it can move.
	Excess(limit int) (id session.ID, found bool)
	// Spill moves the state of a session, and returns what the record of the commit has of it: the names of the files. In recovery, recorded
	// is that record. If the repeated call makes other files, the session must not end with an answer.
	Spill(id session.ID, recorded []byte) (record []byte, err error)
	// UnsavedSessions returns the sessions with files that are not saved, sorted. If the disk is full, these fail, because their state would
	// stay in memory.
	UnsavedSessions() []session.ID
}
