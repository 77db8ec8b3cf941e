package query

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/query/internal/question"
)

// askFor is how long nodes are asked for a session that none of them lists. One that remembers it answers at once.
const askFor = 5 * time.Second

// Continue goes on with the session cfg.Session, whose client is gone: it sends the rest of the files, or fetches the answer if the session
// has ended. The files and the plan have to be the same. Afterwards the session is closed, as by client.Run. Over tells from the error
// whether another session may compute the same.
func Continue(ctx context.Context, cfg client.Config, a *analyses.Analysis) (*client.Answer, error) {
	cfg.Resume = true
	answer, err := client.Run(ctx, cfg)
	if errors.Is(err, protocol.ErrFinished) {
		return fetch(ctx, cfg, a)
	}
	return answer, err
}

// Over reports whether an error of Continue says that the session cannot be continued, but that another one may compute the same. That the
// samples showed too narrow a type is no such error: another session would find the same.
func Over(err error) bool {
	if err == nil || question.Mends(err) {
		return false
	}
	return slices.ContainsFunc([]error{protocol.ErrUnknownSession, protocol.ErrExpired, protocol.ErrFailed, protocol.ErrCancelled,
		protocol.ErrClosed, client.ErrInterrupted},
		func(is error) bool { return errors.Is(err, is) })
}

// fetch asks for the answer of a session that has ended at the cluster.
func fetch(ctx context.Context, cfg client.Config, a *analyses.Analysis) (_ *client.Answer, err error) {
	cl, err := client.Dial(ctx, aboutSession(cfg, cfg.Session))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	listed, err := cl.Sessions(ctx)
	if err == nil && !slices.ContainsFunc(listed, func(s protocol.SessionInfo) bool { return s.Session == cfg.Session }) {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, askFor, fmt.Errorf("no node knows session %s: %w", cfg.Session, protocol.ErrUnknownSession))
		defer done()
	}
	answer, err := cl.Results(ctx)
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for i, q := range a.Queries {
		place[q.Name] = i
	}
	slices.SortFunc(answer.Queries, func(p, q client.Table) int { return place[p.Name] - place[q.Name] })
	if len(answer.Queries) != len(a.Queries) {
		return nil, fmt.Errorf("session %s has %d answers and not %d: %w", cfg.Session, len(answer.Queries), len(a.Queries),
			protocol.ErrUnknownSession)
	}
	if cfg.Deliver != nil {
		if err := cfg.Deliver(ctx, answer); err != nil {
			return nil, err
		}
	}
	_ = cl.Finish(ctx) // a node that does not hear it drops the answer after limits.results_ttl
	return answer, nil
}

// Drop ends a session that nobody continues, and drops its answer, so that it does not count against limits.sessions. It is not cancelled:
// outputs would keep that, for its client to ask, until limits.results_ttl. If nobody hears it, the cluster gives the session up after
// limits.client_timeout, and its answer after limits.results_ttl.
func Drop(ctx context.Context, cfg client.Config, id session.ID) {
	cfg = aboutSession(cfg, id)
	cfg.GiveUpAfter = askFor
	if cl, err := client.Dial(ctx, cfg); err == nil {
		_ = errors.Join(cl.Finish(ctx), cl.Close())
	}
}

// aboutSession returns the configuration of a client that asks about a session of another one.
func aboutSession(cfg client.Config, id session.ID) client.Config {
	return client.Config{Entries: cfg.Entries, Keys: cfg.Keys, Session: id, Analysis: cfg.Analysis, Force: true, GiveUpAfter: cfg.GiveUpAfter}
}

// former finds the sessions that a process with the same name has left, because it was killed. The first bytes of a session's id are those
// of a hash of the name, the plan and the files; the last ones are random, because a closed session's id is not used again.
type former struct {
	as     string
	files  []byte                // what the hash takes of the files
	listed map[string]session.ID // by the first bytes of their ids
}

// hashed is how many bytes of an id are those of the hash: too many for two questions to have the same by chance. The rest lets the same be
// asked a million times before an id comes again, which a node would refuse.
const hashed = 11

// formerOf lists the sessions of the cluster. It returns nil if there is nothing to continue with: without a name, or if the files cannot
// be read again by another process.
func (r *run) formerOf(ctx context.Context) (*former, error) {
	as := r.db.cfg.As
	if as == "" || !r.NeedsCluster() || r.q.ReadByOthers(ctx) != nil {
		return nil, nil
	}
	f := &former{as: as, listed: map[string]session.ID{}}
	stamps := r.q.Stamps()
	for _, table := range slices.Sorted(maps.Keys(stamps)) {
		f.files = fmt.Appendf(f.files, "%q ", table)
		for _, path := range slices.Sorted(maps.Keys(stamps[table])) {
			full, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			f.files = fmt.Appendf(f.files, "%q %+v ", full, stamps[table][path])
		}
	}
	cl, err := client.Dial(ctx, client.Config{Entries: r.at.Entries, Keys: r.at.Keys, Ask: r.at.Ask, Force: true,
		GiveUpAfter: r.db.cfg.Session.GiveUpAfter})
	if err != nil {
		return nil, err
	}
	listed, err := cl.Sessions(ctx)
	for _, s := range listed {
		f.listed[string(s.Session[:hashed])] = s.Session
	}
	if err := cl.Close(); err != nil {
		return nil, err
	}
	if err != nil {
		r.db.cfg.Watch.notice(Note, fmt.Sprintf("not every node says which sessions it has, so one may be computed again: %v", err))
	}
	return f, nil
}

// id returns a new id for the session of a plan.
func (f *former) id(plan []byte) session.ID {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(f.as), plan, f.files} {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write(part)
	}
	id := session.New()
	copy(id[:hashed], h.Sum(nil))
	return id
}

// run runs a session, or continues with one that was left.
func (f *former) run(ctx context.Context, cfg client.Config, a *analyses.Analysis, watch *Watch) (*client.Answer, error) {
	if f == nil || cfg.Head != nil { // the beginning of a file alone was sent, and the input does not know how much was wanted
		return client.Run(ctx, cfg)
	}
	fresh := f.id(cfg.Plan)
	left, is := f.listed[string(fresh[:hashed])]
	delete(f.listed, string(fresh[:hashed])) // the question may be asked again
	if is {
		watch.notice(Note, fmt.Sprintf("session %s continues where its client has stopped", left))
		cfg.Session = left
		answer, err := Continue(ctx, cfg, a)
		switch {
		case errors.Is(err, protocol.ErrInUse): // by a process that lives, and keeps it
		case Over(err) && ctx.Err() == nil:
			Drop(ctx, cfg, left)
		default:
			return answer, err
		}
		watch.notice(Note, fmt.Sprintf("session %s cannot be continued, and is begun again: %v", left, err))
	}
	cfg.Session, cfg.Resume = fresh, false
	return client.Run(ctx, cfg)
}
