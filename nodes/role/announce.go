package role

import (
	"crypto/sha256"
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

	// Openers tell clients of one id apart (R17). Two announcements with openers that do not continue each other are two sessions, and the
	// first node that hears both fails them. A takeover announces the session again, with one opener more.
	Openers session.Openers
	Owner   string // the client's name (S5); empty: the local operator's. Announcements of one id with different owners are two sessions
	Plan    []byte // of a declared analysis; empty: the analysis is built in
	Trace   session.Trace
}

// Digest is a checksum of an announcement without its openers and its trace: of what a takeover does not change.
type Digest [16]byte

// Encode returns the payload. Equal announcements have equal payloads.
func (a Announcement) Encode() []byte {
	b := wire.AppendArray(nil, announcementFields)
	b = wire.AppendBin(b, a.Openers.Append(nil))
	b = wire.AppendBin(b, a.Trace[:])
	return a.appendRest(b)
}

// appendRest appends all but the openers and the trace.
func (a Announcement) appendRest(b []byte) []byte {
	names := make([]string, 0, len(a.Params))
	for n := range a.Params {
		names = append(names, n)
	}
	sort.Strings(names)
	b = wire.AppendString(b, a.Analysis)
	b = wire.AppendMap(b, len(names))
	for _, n := range names {
		b = wire.AppendString(b, n)
		b = wire.AppendString(b, a.Params[n])
	}
	b = wire.AppendString(b, a.Wiring)
	return wire.AppendBin(wire.AppendString(b, a.Owner), a.Plan)
}

const announcementFields = 7

// DecodeAnnouncement reads what Encode wrote. The plan is a view into payload.
func DecodeAnnouncement(payload []byte) (a Announcement, err error) {
	d := wire.NewReader(payload)
	d.ArrayOf(announcementFields)
	openers, ok := session.ReadOpeners(d.Bytes())
	if !ok {
		d.Fail("openers that are none")
	}
	a = Announcement{Openers: openers}
	d.Fixed(a.Trace[:])
	a.Analysis, a.Params = d.String(), map[string]string{}
	for n := d.Map(); n > 0 && d.Err() == nil; n-- {
		k := d.String()
		a.Params[k] = d.String()
	}
	a.Wiring, a.Owner, a.Plan = d.String(), d.String(), d.Bytes()
	return a, d.Done()
}

// ReadAnnouncement reads an announcement and looks its analysis up.
func ReadAnnouncement(id session.ID, payload []byte, known analyses.Set, r analyses.Replica) (Session, error) {
	an, err := DecodeAnnouncement(payload)
	if err != nil {
		return Session{}, fmt.Errorf("announcement of session %s: %w", id, err)
	}
	a, err := known.Open(an.Analysis, an.Plan)
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	args, err := a.Args(an.Params)
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	sum := sha256.Sum256(an.appendRest(nil))
	return Session{ID: id, Analysis: a, Args: args, Replica: r, Wiring: an.Wiring, Openers: an.Openers, Owner: an.Owner, Trace: an.Trace,
		Digest: Digest(sum[:16])}, nil
}

// Same reports whether two announcements of one id are of one session: analysis, parameters and owner are the same (S5), and one list of
// openers continues the other (R17).
func (s *Session) Same(t *Session) bool {
	return s.Digest == t.Digest && (s.Openers.Begin(t.Openers) || t.Openers.Begin(s.Openers))
}
