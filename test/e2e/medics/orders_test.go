package medics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/wallclock"
	"posta.dev/posta/topology"
)

// Damage to the disk of a dead node has to happen between a kill and the restart, and medics restart within a second.
// So the test leaves an order and kills the process, and the next process carries out the order before it opens
// anything.

// ordersVar names the directory of the orders and clocks, for the processes of a cluster under chaos.
const ordersVar = "POSTA_E2E_CHAOS"

// damage is what an order does to a data directory.
type damage string

const (
	keep    damage = "keep a copy"
	restore damage = "restore a copy"
	lose    damage = "lose records"
	flip    damage = "flip the last byte"
	spoil   damage = "flip a bit in the middle"
)

// order is what the next process of a node or medic carries out, once.
type order struct {
	N       int64
	Do      damage
	Dir     string // the data directory
	Copy    string // keep: where to; restore: where from
	Records int    // lose
}

// orders is the test's side of them.
type orders struct {
	dir string
	n   atomic.Int64
}

func orderFile(dir string, id topology.NodeID) string { return filepath.Join(dir, "order-"+string(id)) }

func clockFile(dir string, id topology.NodeID) string { return filepath.Join(dir, "clock-"+string(id)) }

// give leaves an order for the next start. It replaces an order that is still there.
func (o *orders) give(id topology.NodeID, do order) (n int64, err error) {
	do.N = o.n.Add(1)
	b, err := json.Marshal(do)
	if err != nil {
		return 0, err
	}
	return do.N, clustertest.ReplaceFile(orderFile(o.dir, id), b)
}

// told returns the result of an order, and false until it is carried out.
func (o *orders) told(n int64) (string, bool) {
	b, err := os.ReadFile(filepath.Join(o.dir, fmt.Sprint("done-", n)))
	return string(b), err == nil
}

// atStart is the side of a starting process: it sets its clock wrong from the beginning, and changes its disk as the
// order says.
func atStart(args []string) error {
	dir := os.Getenv(ordersVar)
	if dir == "" || len(args) < 3 || args[1] != "node" && args[1] != "medic" {
		return nil
	}
	id := topology.NodeID(args[2])
	if err := wallclock.Follow(clockFile(dir, id)); err != nil {
		return err
	}
	b, err := os.ReadFile(orderFile(dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var o order
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return err
	}
	said, err := o.carryOut()
	if err != nil {
		return fmt.Errorf("%s: %w", o.Do, err) // the order stays: the next start carries it out again
	}
	// The clock of the file system is right, whatever Set has done to this process.
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("done-", o.N)), []byte(said), 0o600); err != nil {
		return err
	}
	return os.Remove(orderFile(dir, id))
}

// carryOut holds the directory's lock, as the node will: so no former process still writes there.
func (o *order) carryOut() (string, error) {
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(o.Dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return "", fmt.Errorf("its lock: %w", err)
	}
	switch o.Do {
	case keep:
		return "kept", clustertest.CopyDirectory(o.Dir, o.Copy)
	case restore:
		if _, err := os.Stat(o.Copy); err != nil {
			return "", nil // there is none yet
		}
		return "restored", clustertest.CopyDirectory(o.Copy, o.Dir)
	case lose:
		n, err := clustertest.LoseRecords(o.Dir, o.Records)
		if n == 0 || err != nil {
			return "", err
		}
		return fmt.Sprintf("%d records lost", n), nil
	case flip:
		flipped, err := clustertest.FlipLastByte(o.Dir)
		if !flipped || err != nil {
			return "", err
		}
		return "flipped", nil
	case spoil:
		return "spoilt", clustertest.FlipInTheMiddle(o.Dir)
	}
	return "", fmt.Errorf("nobody knows how to %s", o.Do)
}
