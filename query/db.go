package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/client"
	"posta.dev/posta/client/source"
	"posta.dev/posta/nodes/inprocess"
	"posta.dev/posta/query/internal/question"
)

// ErrNoRoom is wrapped by the error of statements that nodes within this process cannot answer because their disk is full.
var ErrNoRoom = inprocess.ErrNoRoom

// ErrClosed is returned by questions to a DB that is closed.
var ErrClosed = errors.New("the database is closed")

// DB answers statements. Several goroutines may use it. A nil DB is a closed one.
type DB struct {
	cfg Config

	mu     sync.Mutex       // guards what follows; held while the nodes start
	small  *inprocess.Nodes // of small questions; nil before the first one
	large  *inprocess.Nodes // of others; nil before the first one, and unless they run within this process
	closed bool
}

// Open checks the configuration. Nodes within this process start with the first statement that reads a table.
func Open(_ context.Context, cfg Config) (*DB, error) {
	if cfg.Data != "" && len(cfg.Roots) == 0 {
		info, err := os.Stat(cfg.Data)
		switch {
		case err != nil:
			return nil, fmt.Errorf("look for the data: %w", err)
		case !info.IsDir(): // one file, which is a table called like the file
			name := source.Says(filepath.Base(cfg.Data)).Plain
			cfg.Files = append(cfg.Files[:len(cfg.Files):len(cfg.Files)],
				client.Named{As: strings.TrimSuffix(name, filepath.Ext(name)), Path: cfg.Data})
			cfg.Data = ""
		}
	}
	db := &DB{cfg: cfg}
	if cfg.Topology != "" && cfg.Reach == nil {
		if _, err := reach(cfg.Topology, cfg.Key); err != nil {
			return nil, err
		}
	}
	return db, nil
}

// Close ends the nodes within this process. Statements that are being answered fail.
func (db *DB) Close() error {
	if db == nil {
		return nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	small, large := db.small, db.large
	db.small, db.large, db.closed = nil, nil, true
	return errors.Join(small.Close(ErrClosed), large.Close(ErrClosed))
}

// files returns the files of one script.
func (db *DB) files() *client.Input {
	in := client.NewInput(db.cfg.Data, db.cfg.Files, db.cfg.Stdin, db.cfg.Comma)
	in.Roots = db.cfg.Roots
	return in
}

// Tables returns the names of the tables that files make.
func (db *DB) Tables() []string { return question.Names(db.files()) }

// reach returns how the nodes are reached that answer a script. The returned context ends with ctx, and when nodes within this process end
// by themselves or their disk is full; done has to be called after its last use.
func (db *DB) reach(ctx context.Context, s *Script) (e Entrance, _ context.Context, done func(), err error) {
	switch {
	case db.cfg.Reach != nil:
		e, err = db.cfg.Reach(ctx)
		return e, ctx, func() {}, err
	case db.cfg.Topology != "":
		e, err = reach(db.cfg.Topology, db.cfg.Key)
		return e, ctx, func() {}, err
	}
	bytes, known := s.Reads(ctx)
	nodes, err := db.here(known && bytes <= cmp.Or(db.cfg.Small, inprocess.UpTo(DefaultSmall)))
	if err != nil {
		return e, ctx, func() {}, err
	}
	ctx, done = nodes.During(ctx)
	return Entrance{Entries: nodes.Entries(), Ask: nodes.Ask()}, ctx, done, nil
}

// here returns nodes within this process, and starts them if it has to.
func (db *DB) here(small bool) (_ *inprocess.Nodes, err error) {
	cfg := inprocess.Config{Known: analyses.Set{split.New()}, Dirs: append([]string{db.cfg.Data}, db.cfg.Roots...)}
	for _, n := range db.cfg.Files {
		cfg.Files = append(cfg.Files, n.Path)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return nil, ErrClosed
	case !small && db.large == nil:
		db.large, err = inprocess.Cluster(cfg)
	case small && db.small == nil:
		db.small, err = inprocess.Chain(cfg)
	}
	if small {
		return db.small, err
	}
	return db.large, err
}
