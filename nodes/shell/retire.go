package shell

import (
	"fmt"
	"log/slog"
	"time"

	"posta.dev/posta/internal/wire"
)

// retire has the log put aside (R14) when the committer is free. From the moment at which the core asks for it the node sends only
// heartbeats, and stores nothing.
//
// An empty log contradicts no peer. So if a node would have to retire twice in one start, a late message of a dead process caused it, or
// somebody changes its directory while it runs. The node stops, and its log has the reason.
func (s *Shell) retire(now time.Time, o *Output) {
	why := s.core.Retired()
	if !s.retiring {
		s.retiring, s.beatDue = true, time.Time{} // medics hear about it at once
		s.note(slog.LevelWarn, "R14: this node's log was set back to a former state: it is put aside, and an empty one begins; the sessions "+
			"that this node had a part in fail",
			"dir", s.cfg.Dir, "log", s.cfg.Core.ID.LogID, "incarnation", s.cfg.Core.ID.Incarnation, "why", why)
	}
	switch {
	case s.retired:
		o.End = ErrRetired
	case s.cfg.Again:
		o.End = fmt.Errorf("node %s: R14: its log is found set back for the second time since it started: %s; does something restore or "+
			"change %s while it runs?",
			s.cfg.Core.Self, why, s.cfg.Dir)
	case s.draining && !now.Before(s.drainUntil):
		o.End = ErrDrained // the next start will retire the log
	case s.busy:
	case now.Before(s.retryAt):
		s.wakeAt(s.retryAt) // there was no room for the heritage
	default:
		o.Job = &Job{Retire: true, Heritage: encodeHeritage(s.core.Inheritance())}
	}
}

// A heritage has a version, and an entry for each role of the chain. It is by hand: no struct of a library begins with a version that is
// checked before the rest is read.
const heritageVersion = 1

func encodeHeritage(all [][]byte) []byte {
	if all == nil {
		return nil
	}
	b := wire.AppendArray(nil, 1+len(all))
	b = wire.AppendUint(b, heritageVersion)
	for _, p := range all {
		b = wire.AppendBin(b, p)
	}
	return b
}

func decodeHeritage(data []byte) (all [][]byte, err error) {
	d := wire.NewReader(data)
	n := d.Array()
	if v := d.Uint(); v != heritageVersion {
		d.Fail("version %d; this program reads %d", v, heritageVersion)
	}
	for ; n > 1 && d.Err() == nil; n-- {
		all = append(all, d.Bytes())
	}
	if err := d.Done(); err != nil {
		return nil, fmt.Errorf("what the log before left: %w", err)
	}
	return all, nil
}
