package nodes

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/heartbeat"
)

// errRetired ends the loop of a node whose log was set back to a former state, or is superseded (R14).
var errRetired = errors.New("R14: the log is retired")

// retire puts the log aside. The committer has stopped, so nothing is written any more. It returns errRetired: the next log is empty, and the
// node goes on with it in this process.
//
// An empty log contradicts nobody. A node that would have to retire twice in one start is therefore told so by a message of a process that is
// long dead, or somebody changes its directory while it runs. It stops, and who starts it again sees that in its log.
func (x *node) retire(may bool) error {
	why := x.core.Retired()
	if !may {
		return fmt.Errorf("node %s: R14: its log is found set back for the second time since it started: %s; does something restore or change %s while it runs?",
			x.node.ID, why, x.node.DataDir)
	}
	x.state, x.beatAt = heartbeat.Retiring, time.Time{}
	x.beat(time.Now())
	x.cfg.Log.Warn("R14: this node's log was set back to a former state: it is put aside, and an empty one begins; the sessions that this node had a part in fail",
		"dir", x.node.DataDir, "log", x.id.LogID, "incarnation", x.id.Incarnation, "why", why)
	if err := x.log.Retire(encodeHeritage(x.core.Inheritance())); err != nil {
		return fmt.Errorf("node %s: %w", x.node.ID, err)
	}
	return errRetired
}

// inherit takes over what a retired log left, before the first commit. A log with records has done so, or was never retired.
func (x *node) inherit() error {
	if x.log.Repaired() {
		x.core.Retire("somebody repaired it: records that other nodes have seen may be gone")
	}
	data, err := x.log.Heritage()
	if err != nil || data == nil {
		return err
	}
	x.inherited = true
	if x.log.Last() > 0 {
		return x.dropHeritage()
	}
	all, err := decodeHeritage(data)
	if err != nil {
		return err
	}
	return x.core.Inherit(all)
}

// dropHeritage is called when a commit is stored: the first one holds the heritage.
func (x *node) dropHeritage() error {
	if !x.inherited {
		return nil
	}
	x.inherited = false
	return x.log.DropHeritage()
}

// A heritage has a version, and an entry for each role of the chain.
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
		return nil, fmt.Errorf("R14: what the log before left: %w", err)
	}
	return all, nil
}
