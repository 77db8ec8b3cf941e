package nodes_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/link/zmq"
	"posta.dev/posta/nodes"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
	"posta.dev/posta/zmqx"
)

// haltingDisk stops before the first record is read, and again after the last one, until the test lets it continue.
type haltingDisk struct {
	wal.FS
	before, behind chan struct{} // the test closes them to let it continue
}

func (d haltingDisk) ReadFile(name string) ([]byte, error) {
	if strings.Contains(name, "/segments/") {
		<-d.before
	}
	return d.FS.ReadFile(name)
}

func (d haltingDisk) ReadDir(name string) ([]os.DirEntry, error) {
	if filepath.Base(name) == "snapshots" {
		<-d.behind
	}
	return d.FS.ReadDir(name)
}

// subscriber returns a socket that listens to some topics of a node.
func (c *cluster) subscriber(id topology.NodeID, topics ...string) *zmqx.Sub {
	t := c.t
	t.Helper()
	n, err := c.topo.Node(id)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := zmqx.NewSub(zmqx.Options{BackoffMax: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, topic := range topics {
		if err := sub.Subscribe(topic); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sub.Connect(n.Sockets.Control.Dial); err != nil {
		t.Fatal(err)
	}
	return sub
}

// listen subscribes to a node's heartbeats. The function that it returns waits for one.
func (c *cluster) listen(id topology.NodeID) func(what string, ok func(heartbeat.Beat) bool) heartbeat.Beat {
	t := c.t
	t.Helper()
	sub := c.subscriber(id, zmq.BeatTopic)
	return func(what string, ok func(heartbeat.Beat) bool) heartbeat.Beat {
		t.Helper()
		for deadline := time.After(time.Minute); ; {
			select {
			case batch := <-sub.C():
				for _, r := range batch {
					if b, err := heartbeat.Decode(r.Msg[1]); err == nil && ok(b) {
						return b
					}
				}
			case <-deadline:
				t.Fatalf("nobody is heard %s", what)
			}
		}
	}

}

// runOn runs a node on a disk that the test supplies.
func (c *cluster) runOn(id topology.NodeID, disk wal.FS) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- nodes.Run(ctx, nodes.Config{Topology: c.topo, Node: id, Known: analyses.Set{bikes.New()}, Version: "test", Disk: disk})
	}()
	c.stops[id] = func() error { cancel(); return <-ended }
}

// TestN9_ANodeBeatsWhileItOpensItsLog: however long the disk takes to read the log, the node sends heartbeats, reports that it recovers,
// and moves its progress mark with each record that it checks. It has no incarnation before the log is open.
func TestN9_ANodeBeatsWhileItOpensItsLog(t *testing.T) {
	const id = "joiner-1"
	dir, _ := data(t, 2000)
	c := start(t, topology.Variant{})
	c.analyse(dir, nil)
	c.stopAll()
	clear(c.stops)
	await := c.listen(id)
	disk := haltingDisk{wal.Unsynced, make(chan struct{}), make(chan struct{})}
	readOn, openOn := sync.OnceFunc(func() { close(disk.before) }), sync.OnceFunc(func() { close(disk.behind) })
	t.Cleanup(readOn)
	t.Cleanup(openOn)
	c.runOn(id, disk)
	opening := func(b heartbeat.Beat) bool { return b.State == heartbeat.Recovering && b.ID.Incarnation == 0 }
	first := await("before a record is read", opening)
	readOn()
	await("when all records are", func(b heartbeat.Beat) bool { return opening(b) && b.ID == first.ID && b.Mark > first.Mark })
	openOn()
	await("when the log is open", func(b heartbeat.Beat) bool { return b.State == heartbeat.Running && b.ID.Incarnation == 2 })
}

// scarceDisk cannot open a file for writing until the test lets it.
type scarceDisk struct {
	wal.FS
	err error
	let *atomic.Bool
}

func (d scarceDisk) OpenFile(name string, flag int, perm os.FileMode) (wal.File, error) {
	if !d.let.Load() {
		return nil, &os.PathError{Op: "open", Path: name, Err: d.err}
	}
	return d.FS.OpenFile(name, flag, perm)
}

// TestW5_ANodeWaitsForRoomToOpenItsLog: a full disk or a lack of file descriptors is temporary. The node reports what is missing, and
// starts once it is available.
func TestW5_ANodeWaitsForRoomToOpenItsLog(t *testing.T) {
	const id = "joiner-1"
	c := start(t, topology.Variant{})
	c.stopAll()
	clear(c.stops)
	await := c.listen(id)
	for i, missing := range []error{syscall.ENOSPC, syscall.EMFILE} {
		disk := scarceDisk{wal.Unsynced, missing, new(atomic.Bool)}
		c.runOn(id, disk)
		await("without room", func(b heartbeat.Beat) bool {
			return b.State == heartbeat.Recovering && b.NoRoom && strings.Contains(b.Trouble, missing.Error())
		})
		disk.let.Store(true)
		b := await("with room", func(b heartbeat.Beat) bool { return b.State == heartbeat.Running })
		if b.Trouble != "" || int(b.ID.Incarnation) < i+1 {
			t.Errorf("there is room again, and it says %+v", b)
		}
		if err := c.stops[id](); err != nil {
			t.Fatal(err)
		}
		delete(c.stops, id)
	}
}

// countingDisk notes each segment that is read.
type countingDisk struct {
	wal.FS
	read func()
}

func (d countingDisk) ReadFile(name string) ([]byte, error) {
	if strings.Contains(name, "/segments/") {
		d.read()
	}
	return d.FS.ReadFile(name)
}

// TestN5_ANodeEndsWhileItOpensItsLog: a node that is told to end while it opens its log or recovers stops reading and does not begin to
// run.
func TestN5_ANodeEndsWhileItOpensItsLog(t *testing.T) {
	const id = "joiner-1"
	dir, _ := data(t, 2000)
	c := start(t, topology.Variant{})
	c.analyse(dir, nil)
	c.stopAll()
	clear(c.stops)
	for at := 1; ; at++ {
		ctx, stop := context.WithCancel(context.Background())
		reads := 0
		var log bytes.Buffer
		disk := countingDisk{wal.Unsynced, func() {
			if reads++; reads == at {
				stop()
			}
		}}
		ended := make(chan error, 1)
		go func() {
			ended <- nodes.Run(ctx, nodes.Config{Topology: c.topo, Node: id, Known: analyses.Set{bikes.New()}, Version: "test", Disk: disk,
				Log: slog.New(slog.NewTextHandler(&log, nil))})
		}()
		const enough = 3 // the log is read to check it, its newest segment once more to rewrite it, and then for recovery
		if at > enough {
			stop()
		}
		if err := <-ended; err != nil {
			t.Fatalf("told to end at read %d: %v", at, err)
		}
		stop()
		if strings.Contains(log.String(), "msg=running") {
			t.Fatalf("told to end at read %d of %d, and it continued:\n%s", at, reads, &log)
		}
		if at > enough {
			return
		}
		if reads < at {
			t.Fatalf("the log was read %d times, want %d", reads, enough)
		}
	}
}
