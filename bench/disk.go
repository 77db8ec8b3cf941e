package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const diskAbout = `how fast a log could be: ways to make 4 MiB pieces durable in one file, in turns. "early": the disk is asked to begin after half a piece, as the log does;
"ahead": a piece is written while the one before it is synced, two commits in flight; "reserved": the blocks are allocated before; "overwritten": they were written before, as in a
segment that is used again; ratio: time of write + fsync over the time in this line`

// diskWay is a way to make pieces of a file durable, one after the other.
type diskWay struct {
	name  string
	room  room
	early bool // the disk is asked to begin after half a piece
	ahead bool // a piece is written while the previous one is synced
}

// room is the state of the file before the first piece is written.
type room int

const (
	noRoom   room = iota
	reserved      // allocated blocks beyond the file's end
	written       // as many bytes as will be written
)

// diskWays begins with the plain file, with which the others are compared.
var diskWays = []diskWay{
	{name: "write + fsync"},
	{name: "early", early: true},
	{name: "ahead", ahead: true},
	{name: "early, ahead", early: true, ahead: true},
	{name: "reserved, early", room: reserved, early: true},
	{name: "reserved, early, ahead", room: reserved, early: true, ahead: true},
	{name: "overwritten, early", room: written, early: true},
	{name: "overwritten, early, ahead", room: written, early: true, ahead: true},
}

// measureDisk separates what the disk allows from what the log uses of it.
func measureDisk(ctx context.Context, c *Config) (Section, error) {
	done, pool := Section{About: diskAbout}, newPool()
	ways := diskWays
	if !diskHints {
		ways = ways[:1]
		done.Skipped = append(done.Skipped, Skip{Name: "all but the first", Why: "only Linux has the system calls"})
	}
	for _, w := range ways {
		done.Cases = append(done.Cases, Case{Name: w.name})
	}
	for round, counts := range c.rounds() {
		took, cpu := make([]time.Duration, len(ways)), make([]time.Duration, len(ways))
		for i := range ways {
			at := (i + round) % len(ways)
			var err error
			took[at], err = withCPU(&cpu[at], func() (time.Duration, error) { return ways[at].write(c.Dir, pool, c.Amount) })()
			if err = errors.Join(err, ctx.Err()); err != nil {
				return done, fmt.Errorf("%s, round %d: %w", ways[at].name, round, err)
			}
		}
		if !counts {
			continue
		}
		for i := range ways {
			done.Cases[i].add([]Measure{
				{"file", "MB/s", rate(c.Amount, took[i])},
				{"ratio", "", took[0].Seconds() / took[i].Seconds()},
				{"CPU per byte", "ns", float64(cpu[i].Nanoseconds()) / float64(c.Amount)},
			})
		}
	}
	return done, nil
}

// write makes the amount durable and returns how long that took, without the time to prepare the file.
func (w diskWay) write(dir string, pool []byte, amount int64) (took time.Duration, err error) {
	f, err := os.CreateTemp(dir, "disk")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	if err := w.room.make(f, pool, amount); err != nil {
		return 0, err
	}
	sync := f.Sync
	if w.room != noRoom {
		sync = func() error { return syncData(f) }
	}
	s := beginSyncer(sync)
	defer func() { err = errors.Join(err, s.end()) }()
	begin := time.Now()
	for at := 0; amount > 0; at += piece {
		if at+piece > len(pool) {
			at = 0
		}
		p := pool[at : at+int(min(amount, piece))]
		amount -= int64(len(p))
		if err := w.put(f, p); err != nil {
			return 0, err
		}
		if err := s.await(); err != nil { // for the previous piece
			return 0, err
		}
		s.start()
		if !w.ahead {
			if err := s.await(); err != nil {
				return 0, err
			}
		}
	}
	err = s.await()
	return time.Since(begin), err
}

// put writes a piece.
func (w diskWay) put(f *os.File, p []byte) error {
	half := 0
	if w.early {
		half = len(p) / 2
		if _, err := f.Write(p[:half]); err != nil {
			return err
		}
		startWriting(f)
	}
	_, err := f.Write(p[half:])
	return err
}

// make gives the file its room, and waits until the disk is done with this.
func (r room) make(f *os.File, pool []byte, amount int64) error {
	switch r {
	case reserved:
		if err := reserve(f, amount); err != nil {
			return fmt.Errorf("reserve %d bytes: %w", amount, err)
		}
	case written:
		for left := amount; left > 0; left -= piece {
			if _, err := f.Write(pool[:min(left, piece)]); err != nil {
				return err
			}
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	return f.Sync()
}

// syncer syncs a file in a goroutine of its own. One goroutine uses it.
type syncer struct {
	orders chan struct{}
	done   chan error // closed when the goroutine has ended
	busy   bool       // a sync was ordered but not awaited
}

func beginSyncer(sync func() error) *syncer {
	s := &syncer{orders: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		defer close(s.done)
		for range s.orders {
			s.done <- sync()
		}
	}()
	return s
}

func (s *syncer) start() {
	s.busy = true
	s.orders <- struct{}{}
}

// await waits for the sync that was started, if there is one.
func (s *syncer) await() error {
	if !s.busy {
		return nil
	}
	s.busy = false
	return <-s.done
}

// end waits for the goroutine.
func (s *syncer) end() (err error) {
	close(s.orders)
	for e := range s.done {
		err = errors.Join(err, e)
	}
	return err
}
