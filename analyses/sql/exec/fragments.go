package exec

import (
	"errors"
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/rows/fold"
)

// Fragments is what a session's statements have been split into, as nodes run them.
type Fragments struct {
	Text    string // of the statements, for errors
	Scans   map[*plan.Table]*Scan
	Order   []*Scan                         // by stream
	Leaves  []*Leaf                         // computed where rows are
	Regions []*Region                       // computed where groups and rows of several tables meet
	ByNode  map[plan.Node]*Leaf             // the rest is computed above these nodes, in the reducer
	Specs   []fold.Spec                     // of the tables between
	Refs    map[*plan.Table]bool            // tables that every joiner has
	Missing map[*plan.Scan]analyses.Missing // by scan of a small table, which of the statements that share the scan read it
	Size    func(*plan.Table) int64         // how many bytes are read of a table; 0 if that is not known
}

// TailBytes bounds the bytes of rows, groups and values that the reducer keeps for a statement.
const TailBytes = 512 << 20

// maxKept is how many bytes a joiner may keep for what it computes from the small tables. More ends the session with ErrReference.
const maxKept = 256 << 20

// Computed reports whether a joiner can compute an expression: the expression has kernels and contains no query.
func Computed(e plan.Expr) bool {
	if ContainsSubquery(e) {
		return false
	}
	return eval.Supports(e) == nil
}

func ContainsSubquery(e plan.Expr) bool { return len(plan.QueriesIn(e)) > 0 }

func About(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("about %d MiB", (bytes+1<<19)>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("about %d KiB", (bytes+1<<9)>>10)
	}
	return fmt.Sprintf("about %d B", bytes)
}

// Shown adds to an error the place in the text that cannot be computed.
func Shown(text string, err error) error {
	if e := (*eval.Unsupported)(nil); errors.As(err, &e) {
		return syntax.NewError(text, e.At, e.Error(), "")
	}
	return err
}
