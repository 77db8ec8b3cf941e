package runs

import (
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
	"posta.dev/posta/protocol/session"
)

// Store has the runs of all sessions of a role. A role that embeds it is a role.Filer.
type Store struct {
	name    string
	from    role.SavedReader
	sets    map[session.ID]*Set
	dropped []string
}

var _ role.Filer = (*Store)(nil)

// NewStore returns an empty store. The name of the role keeps its files apart from those of other roles in the same node.
func NewStore(name string) *Store { return &Store{name: name, sets: map[session.ID]*Set{}} }

// AttachFiles sets the reader of saved files. It is called once, before anything is read.
func (s *Store) AttachFiles(from role.SavedReader) { s.from = from }

// Of returns the set of a session; nil if it has none. The reading methods of a nil set behave as for an empty set.
func (s *Store) Of(id session.ID) *Set { return s.sets[id] }

// Open returns the set of a session, and makes one if there is none.
func (s *Store) Open(id session.ID) *Set {
	if s.sets[id] == nil {
		s.sets[id] = &Set{store: s, id: id}
	}
	return s.sets[id]
}

// Forget drops the runs of a session. Their files are removed when the commit that is being built is stored.
func (s *Store) Forget(id session.ID) {
	if set := s.sets[id]; set != nil {
		set.each(func(r *run) { s.dropped = append(s.dropped, r.name) })
		delete(s.sets, id)
	}
}

// Restore reads what Set.Append wrote.
func (s *Store) Restore(id session.ID, d *wire.Reader) {
	if d.Array() == 2 && d.Err() == nil {
		s.Open(id).restore(d)
	}
}

// Unsaved implements role.Filer.
func (s *Store) Unsaved() (files []role.File) {
	for _, set := range s.inOrder() {
		set.each(func(r *run) {
			if r.parts != nil {
				files = append(files, role.File{Name: r.name, Parts: r.parts})
			}
		})
	}
	return files
}

// UnsavedSessions returns the sessions of the files that Unsaved returns, sorted.
func (s *Store) UnsavedSessions() (ids []session.ID) {
	for _, set := range s.inOrder() {
		unsaved := false
		set.each(func(r *run) { unsaved = unsaved || r.parts != nil })
		if unsaved {
			ids = append(ids, set.id)
		}
	}
	return ids
}

// Saved implements role.Filer. It frees the memory of the files.
func (s *Store) Saved(files []role.File) {
	saved := make(map[string]bool, len(files))
	for _, f := range files {
		saved[f.Name] = true
	}
	for _, set := range s.sets {
		set.each(func(r *run) {
			if saved[r.name] {
				r.parts = nil
			}
		})
	}
}

// Dropped implements role.Filer.
func (s *Store) Dropped() []string {
	names := s.dropped
	s.dropped = nil
	return names
}

// Files implements role.Filer.
func (s *Store) Files() (names []string) {
	for _, set := range s.inOrder() {
		set.each(func(r *run) { names = append(names, r.name) })
	}
	return names
}

func (s *Store) inOrder() []*Set { return role.ByID(s.sets) }
