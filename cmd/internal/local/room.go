package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
)

// ErrNoRoom is wrapped by the error of a private cluster whose disk is full.
var ErrNoRoom = errors.New("no room")

// fullFor is how long the disk of a private cluster may be full before its command ends. A cluster that outlives its commands waits for
// room as long as it takes (W5), because it has an operator. The user of one command would not know what it waits for. Its cluster still
// waits this long, for room that another program makes.
const fullFor = 3 * time.Second

// NoRoom returns an error once the disk of one of the nodes has been full for some seconds, and nil when ctx ends.
func (c *Processes) NoRoom(ctx context.Context) error {
	keys, err := c.Keys()
	if err != nil {
		return nil // the command itself reports it
	}
	w := &fullWait{dir: c.cfg.Dir}
	_, err = monitor.UntilClosed(ctx, func(view []monitor.Status) (bool, error) { return false, w.see(view, time.Now()) })(
		monitor.ListenToNodes(c.cfg.Nodes, keys))
	if errors.Is(err, ErrNoRoom) {
		return err
	}
	return nil
}

// fullWait waits for room.
type fullWait struct {
	dir   string
	since time.Time // when the disk was full for the first time in a row; zero: it is not
}

func (w *fullWait) see(view []monitor.Status, now time.Time) error {
	full := ""
	for _, s := range view {
		b := &s.Beat
		if s.Heard && s.Age <= freshBeat && (b.State == heartbeat.DiskFull || b.State == heartbeat.NoFiles || b.NoRoom) {
			full = string(s.Node.ID)
		}
	}
	switch {
	case full == "":
		w.since = time.Time{}
	case w.since.IsZero():
		w.since = now
	case now.Sub(w.since) >= fullFor:
		return fmt.Errorf("%w on the disk of %s, where %s keeps what the session needs on its way: make room there, or name a directory with "+
			"more room, with --dir or in TMPDIR",
			ErrNoRoom, filepath.Clean(w.dir), full)
	}
	return nil
}
