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
}

// Encode returns the payload. It is the same for the same announcement.
func (a Announcement) Encode() []byte {
	names := make([]string, 0, len(a.Params))
	for n := range a.Params {
		names = append(names, n)
	}
	sort.Strings(names)
	b := wire.AppendArray(nil, 3)
	b = wire.AppendString(b, a.Analysis)
	b = wire.AppendMap(b, len(names))
	for _, n := range names {
		b = wire.AppendString(b, n)
		b = wire.AppendString(b, a.Params[n])
	}
	return wire.AppendString(b, a.Wiring)
}

// ReadAnnouncement reads an announcement and looks its analysis up.
func ReadAnnouncement(id session.ID, payload []byte, known analyses.Set, r analyses.Replica) (Session, error) {
	d := wire.NewReader(payload)
	fields := d.Array()
	name := d.String()
	params := map[string]string{}
	for n := d.Map(); n > 0; n-- {
		k := d.String()
		params[k] = d.String()
	}
	wiring := ""
	if fields != 2 { // a log may hold sessions from before wirings were told
		wiring = d.String()
	}
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
	return Session{ID: id, Analysis: a, Args: args, Replica: r, Wiring: wiring}, nil
}
