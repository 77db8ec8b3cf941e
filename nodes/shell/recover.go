package shell

import (
	"fmt"

	"posta.dev/posta/link"
	"posta.dev/posta/nodes/core"
	"posta.dev/posta/wal"
)

// History is the content of a log from earlier incarnations: *wal.Log, or the disk of a simulator.
type History interface {
	LoadSnapshot() (at wal.Index, data []byte, ok bool, err error)
	Replay(from wal.Index, fn func(i wal.Index, typ byte, data []byte) error) error
	First() wal.Index
	Last() wal.Index
	Size() int64
	Short() bool

	// The heritage of the log before, and whether this log lost records to a repair (R14).
	Repaired() bool
	Heritage() ([]byte, error)
	DropHeritage() error
}

// Recover restores the state at the end of the log (N3): the newest snapshot, the records since, and earlier records with frames that some
// receiver has not acknowledged. The log analysis must have seen every record (wal.Options.OnRecord). Recover is called once, before the
// first Step.
func (s *Shell) Recover(log History, a *core.LogAnalysis) error {
	for _, l := range s.cfg.Lost {
		a.GiveUp(l.Session)
	}
	at, snapshot, _, err := log.LoadSnapshot()
	if err == nil {
		err = s.replay(log, at, snapshot, a)
	}
	if err == nil {
		err = s.inherit(log)
	}
	if err == nil && s.core.Retired() == "" {
		s.giveUp()
	}
	if err != nil {
		return fmt.Errorf("node %s: recovery: %w", s.cfg.Core.Self, err)
	}
	s.last, s.snapAt, s.snapSize, s.logBytes = log.Last(), at, int64(len(snapshot)), log.Size()
	s.sinceCut, s.short, s.swept = s.logBytes, log.Short(), !s.core.HasFiles()
	return nil
}

// giveUp aborts the sessions that made earlier incarnations crash.
func (s *Shell) giveUp() {
	for _, l := range s.cfg.Lost {
		s.core.GiveUp(l.Session, l.Reason)
		s.lost = true
	}
}

func (s *Shell) replay(log History, at wal.Index, snapshot []byte, a *core.LogAnalysis) error {
	r, err := s.core.Recover(snapshot, link.LogIndex(at), a)
	if err != nil {
		return err
	}
	from := max(wal.Index(r.First()), log.First())
	err = log.Replay(from, func(i wal.Index, _ byte, data []byte) error { return r.Replay(link.LogIndex(i), data) })
	if err != nil {
		return err
	}
	return r.Done()
}

// inherit takes over the heritage of a retired log, before the first commit. A log with records has done so already, or has no retired log
// before it.
func (s *Shell) inherit(log History) error {
	if log.Repaired() {
		s.core.Retire("somebody repaired it: records that other nodes have seen may be gone")
	}
	data, err := log.Heritage()
	if err != nil || data == nil {
		return err
	}
	if log.Last() > 0 {
		return log.DropHeritage()
	}
	s.heir = true
	all, err := decodeHeritage(data)
	if err != nil {
		return err
	}
	return s.core.Inherit(all)
}
