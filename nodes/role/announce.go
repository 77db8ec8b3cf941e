package role

import (
	"fmt"
	"sort"

	"posta.dev/posta/analyses"
	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// Announcement is the payload of an Open frame: what a node needs to know to take part in a session.
type Announcement struct {
	Analysis string
	Params   map[string]string // as the client gave them; defaults are filled in by each node
	Wiring   string            // of the topology that the session began with

	// Opener tells two clients of one id apart: the first node that hears both fails the session (R17).
	Opener session.TokenHash
	Owner  string // the client's name; empty: nobody has told
	Plan   []byte // of a declared analysis; empty: the analysis is built in
	Epoch  uint64 // of the opener, from 1
}

// Encode returns the payload. It is the same for the same announcement.
func (a Announcement) Encode() []byte {
	names := make([]string, 0, len(a.Params))
	for n := range a.Params {
		names = append(names, n)
	}
	sort.Strings(names)
	b := wire.AppendArray(nil, announcementFields)
	b = wire.AppendString(b, a.Analysis)
	b = wire.AppendMap(b, len(names))
	for _, n := range names {
		b = wire.AppendString(b, n)
		b = wire.AppendString(b, a.Params[n])
	}
	b = wire.AppendString(b, a.Wiring)
	b = wire.AppendString(wire.AppendBin(b, a.Opener[:]), a.Owner)
	return wire.AppendUint(wire.AppendBin(b, a.Plan), a.Epoch)
}

const announcementFields = 7

// ReadAnnouncement reads an announcement and looks its analysis up.
func ReadAnnouncement(id session.ID, payload []byte, known analyses.Set, r analyses.Replica) (Session, error) {
	d := wire.NewReader(payload)
	d.ArrayOf(announcementFields)
	name := d.String()
	params := map[string]string{}
	for n := d.Map(); n > 0; n-- {
		k := d.String()
		params[k] = d.String()
	}
	s := Session{ID: id, Replica: r, Wiring: d.String()}
	d.Fixed(s.Opener[:])
	d.Skip(0) // the owner and the plan, which no node asks for yet
	d.Skip(0)
	d.Uint()
	if err := d.Done(); err != nil {
		return Session{}, fmt.Errorf("announcement of session %s: %w", id, err)
	}
	a, err := known.Find(name)
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	args, err := a.Args(params)
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	s.Analysis, s.Args = a, args
	return s, nil
}
