package wal

import (
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
)

// disk is an FS over a real directory. It also keeps what would survive a crash: the synced bytes of each file, and the synced entries of
// each directory. It counts its steps, and can crash after one or let one fail. crash() then makes a directory as the disk might have left
// it.
type disk struct {
	t    *testing.T
	root string
	tree *node

	steps    []string // names of the steps so far, for messages
	crashAt  int      // number of the last step that works; 0: all work
	failAt   int      // this step fails with failWith; 0: none
	failWith error
	failed   string // the step that failed
	before   func() // if not nil, called before every step
	full     bool   // no file can be made or grow
	capacity int64  // of all files, in bytes; 0: unlimited
}

// node is a file or a directory, with its current content and the content that was synced last.
type node struct {
	dir          bool
	now, durable map[string]*node
	data, synced []byte
	dirty        []bool // of each byte of data: an fsync would write it
}

// bytes returns the size of the file, or of everything below the directory.
func (n *node) bytes() int64 {
	total := int64(len(n.data))
	for _, child := range n.now {
		total += child.bytes()
	}
	return total
}

// wrote marks the bytes that an fsync has to write.
func (n *node) wrote(from, to int) {
	for len(n.dirty) < len(n.data) {
		n.dirty = append(n.dirty, false)
	}
	for i := from; i < to; i++ {
		n.dirty[i] = true
	}
}

// sync makes the dirty bytes durable. A failed sync makes nothing durable and marks the bytes clean nevertheless, as kernels do (W4): bytes
// that are not written again are then in memory only.
func (n *node) sync(failed bool) {
	n.wrote(0, 0)
	if !failed {
		synced := make([]byte, len(n.data))
		copy(synced, n.synced)
		for i := range n.data {
			if n.dirty[i] {
				synced[i] = n.data[i]
			}
		}
		n.synced = synced
	}
	n.dirty = nil
}

var errCrash = errors.New("the machine has crashed")

func newDisk(t *testing.T, root string) *disk {
	return &disk{t: t, root: root, tree: loadTree(t, root)}
}

// loadTree takes the current content of the directory as durable.
func loadTree(t *testing.T, path string) *node {
	entries, err := os.ReadDir(path)
	must(t, err)
	n := &node{dir: true, now: map[string]*node{}, durable: map[string]*node{}}
	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}
		child := &node{}
		if e.IsDir() {
			child = loadTree(t, filepath.Join(path, e.Name()))
		} else {
			b, err := os.ReadFile(filepath.Join(path, e.Name()))
			must(t, err)
			child.data, child.synced = b, b
		}
		n.now[e.Name()], n.durable[e.Name()] = child, child
	}
	return n
}

// step reports whether the next step may be done. It returns the result of the step; half means that a failing write should write half.
func (d *disk) step(op, name string) (half bool, err error) {
	if d.before != nil {
		d.before()
	}
	if d.crashAt > 0 && len(d.steps) >= d.crashAt {
		return false, errCrash
	}
	rel, _ := filepath.Rel(d.root, name)
	d.steps = append(d.steps, op+" "+rel)
	if _, there := os.Stat(name); d.full && (op == "create" || op == "mkdir" && there != nil || op == "write") {
		return false, &os.PathError{Op: op, Path: name, Err: errNoSpace}
	}
	if len(d.steps) == d.failAt {
		d.failed = op + " " + rel
		return true, &os.PathError{Op: op, Path: name, Err: d.failWith}
	}
	return false, nil
}

// find returns the node of a path and the directory that holds it.
func (d *disk) find(name string) (parent, n *node) {
	rel, err := filepath.Rel(d.root, name)
	must(d.t, err)
	n = d.tree
	if rel == "." {
		return nil, n
	}
	for _, part := range strings.Split(rel, string(filepath.Separator)) {
		if n == nil {
			return nil, nil
		}
		parent, n = n, n.now[part]
	}
	return parent, n
}

func (d *disk) OpenFile(name string, flag int, perm os.FileMode) (File, error) {
	if flag&os.O_CREATE != 0 {
		if _, err := d.step("create", name); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	parent, n := d.find(name)
	if n == nil {
		n = &node{}
		parent.now[filepath.Base(name)] = n
	}
	if flag&os.O_TRUNC != 0 {
		n.data, n.dirty = nil, nil
	}
	return &diskFile{d: d, f: f, n: n, name: name}, nil
}

func (d *disk) ReadFile(name string) ([]byte, error)       { return os.ReadFile(name) }
func (d *disk) ReadDir(name string) ([]os.DirEntry, error) { return os.ReadDir(name) }

func (d *disk) Mkdir(name string, perm os.FileMode) error {
	if _, err := d.step("mkdir", name); err != nil {
		return err
	}
	if err := os.Mkdir(name, perm); err != nil {
		return err
	}
	parent, _ := d.find(name)
	parent.now[filepath.Base(name)] = &node{dir: true, now: map[string]*node{}, durable: map[string]*node{}}
	return nil
}

func (d *disk) Rename(from, to string) error {
	if _, err := d.step("rename", to); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	fp, n := d.find(from)
	tp, _ := d.find(to)
	delete(fp.now, filepath.Base(from))
	tp.now[filepath.Base(to)] = n
	return nil
}

func (d *disk) Remove(name string) error {
	if _, err := d.step("remove", name); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return err
	}
	parent, _ := d.find(name)
	delete(parent.now, filepath.Base(name))
	return nil
}

func (d *disk) SyncDir(name string) error {
	if rel, _ := filepath.Rel(d.root, name); strings.HasPrefix(rel, "..") {
		return nil // the path is outside the log
	}
	if _, err := d.step("syncdir", name); err != nil {
		return err
	}
	_, n := d.find(name)
	n.durable = map[string]*node{}
	for name, child := range n.now {
		n.durable[name] = child
	}
	return nil
}

type diskFile struct {
	d    *disk
	f    *os.File
	n    *node
	name string
}

func (f *diskFile) Write(b []byte) (int, error) {
	half, err := f.d.step("write", f.name)
	if room := f.d.capacity - f.d.tree.bytes(); err == nil && f.d.capacity > 0 && int64(len(b)) > room {
		return 0, &os.PathError{Op: "write", Path: f.name, Err: errNoSpace}
	}
	if err != nil && !half {
		return 0, err
	}
	if half {
		b = b[:len(b)/2]
	}
	n, werr := f.f.Write(b)
	must(f.d.t, werr)
	f.n.data = append(f.n.data[:len(f.n.data):len(f.n.data)], b...)
	f.n.wrote(len(f.n.data)-len(b), len(f.n.data))
	return n, err
}

func (f *diskFile) WriteAt(b []byte, off int64) (int, error) {
	half, err := f.d.step("writeat", f.name)
	if err != nil && !half {
		return 0, err
	}
	if half {
		b = b[:len(b)/2]
	}
	n, werr := f.f.WriteAt(b, off)
	must(f.d.t, werr)
	f.n.data = append([]byte(nil), f.n.data...)
	copy(f.n.data[off:], b)
	f.n.wrote(int(off), int(off)+len(b))
	return n, err
}

func (f *diskFile) Truncate(size int64) error {
	if _, err := f.d.step("truncate", f.name); err != nil {
		return err
	}
	must(f.d.t, f.f.Truncate(size))
	f.n.data = f.n.data[:size:size]
	f.n.dirty = f.n.dirty[:min(int(size), len(f.n.dirty))]
	return nil
}

func (f *diskFile) Sync() error {
	failing, err := f.d.step("fsync", f.name)
	if err == nil || failing {
		f.n.sync(failing)
	}
	return err
}

func (f *diskFile) Close() error { return f.f.Close() }

// options puts the log on the disk.
func (d *disk) options(o Options) Options {
	o.FS = d
	return o
}

// outcome is what happens to bytes and entries that were not synced.
type outcome int

const (
	lost outcome = iota
	kept
	torn
	outcomes
)

func (o outcome) String() string { return [...]string{"lost", "kept", "torn"}[o] }

// crash makes a directory with what the disk would show after the power came back.
func (d *disk) crash(o outcome, seed int64) string {
	to := tempDir(d.t)
	writeTree(d.t, d.tree, to, o, rand.New(rand.NewSource(seed)))
	return to
}

func writeTree(t *testing.T, n *node, to string, o outcome, rng *rand.Rand) {
	names := map[string]bool{}
	for name := range n.now {
		names[name] = true
	}
	for name := range n.durable {
		names[name] = true
	}
	for _, name := range sortedKeys(names) {
		child := n.durable[name]
		if o == kept || o == torn && rng.Intn(2) == 0 {
			child = n.now[name]
		}
		path := filepath.Join(to, name)
		switch {
		case child == nil:
		case child.dir:
			must(t, os.Mkdir(path, 0o755))
			writeTree(t, child, path, o, rng)
		default:
			must(t, os.WriteFile(path, surviving(child, o, rng), 0o644))
		}
	}
}

func surviving(n *node, o outcome, rng *rand.Rand) []byte {
	switch {
	case o == lost:
		return n.synced
	case o == kept:
		return n.data
	case len(n.data) < len(n.synced): // a truncation that may or may not have reached the disk
		return [][]byte{n.synced, n.data}[rng.Intn(2)]
	}
	out := make([]byte, len(n.data))
	copy(out, n.synced)
	switch rng.Intn(3) {
	case 0: // a prefix of the changes reached the disk; appended bytes end there
		from := 0
		for from < len(n.synced) && n.synced[from] == n.data[from] {
			from++
		}
		k := from + rng.Intn(len(n.data)-from+1)
		copy(out, n.data[:k])
		out = out[:max(k, len(n.synced))]
	case 1: // any of the sectors did, in any order
		for at := 0; at < len(out); at += sector {
			if rng.Intn(2) == 0 {
				copy(out[at:min(at+sector, len(out))], n.data[at:])
			}
		}
	case 2: // the new length did, and none of the bytes
	}
	return out
}

func sortedKeys(m map[string]bool) []string {
	var s []string
	for k := range m {
		s = append(s, k)
	}
	sort.Strings(s)
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	errNoSpace = syscall.ENOSPC
	errIO      = syscall.EIO
)
