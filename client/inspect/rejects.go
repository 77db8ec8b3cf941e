package inspect

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strconv"

	"posta.dev/posta/analyses"
)

// Rejects lists rejected rows in a file, as CSV. It is used by one goroutine at a time.
type Rejects struct {
	name string
	file *os.File // nil once it is closed
	out  *csv.Writer

	// The passes of a statement read the same rows, and each pass may reject a row. The file lists the row once.
	passed map[rejectedRow]int // rows of passes, by the number of marks before they were listed
	marks  int                 // how many marks there were; each session begins with one
}

// rejectedRow is the place of a row.
type rejectedRow struct {
	stream, file string
	line         uint64
}

// mostRemembered bounds how many rows of former passes are remembered. If there are more, the file may list rows twice.
const mostRemembered = 1 << 20

// NewRejects lists rows in an open file, which Close closes.
func NewRejects(file *os.File) (*Rejects, error) {
	r := &Rejects{name: file.Name(), file: file, out: csv.NewWriter(file), passed: map[rejectedRow]int{}}
	return r, r.out.Write([]string{"stream", "file", "line", "reason", "row"})
}

// add lists a row, unless a pass before this session has listed it. pass reports that the present session is a pass.
func (r *Rejects) add(stream string, reject analyses.Reject, row []byte, pass bool) error {
	at := rejectedRow{stream, reject.File, reject.Line}
	if marks, listed := r.passed[at]; listed && marks < r.marks {
		return nil
	}
	if pass && len(r.passed) < mostRemembered {
		r.passed[at] = r.marks
	}
	return r.cannotWrite(r.out.Write([]string{stream, reject.File, strconv.FormatUint(reject.Line, 10), reject.Reason, string(row)}))
}

// Mark is a position of the list. Only a regular file has one: in any other file, what a session has written stays.
type Mark struct {
	at    int64 // -1 if the file has no positions
	marks int
}

// Mark returns the present position of the file, to which Back cuts the file.
func (r *Rejects) Mark() (Mark, error) {
	if r == nil {
		return Mark{}, nil
	}
	r.out.Flush()
	if err := r.out.Error(); err != nil {
		return Mark{}, r.cannotWrite(err)
	}
	at, err := r.file.Seek(0, io.SeekCurrent)
	if err != nil {
		at = -1
	}
	r.marks++
	return Mark{at, r.marks}, nil
}

// Back removes what was written since a mark.
func (r *Rejects) Back(to Mark) error {
	if r == nil || to.at < 0 {
		return nil
	}
	maps.DeleteFunc(r.passed, func(_ rejectedRow, marks int) bool { return marks >= to.marks })
	r.out.Flush()
	err := errors.Join(r.out.Error(), r.file.Truncate(to.at))
	if err == nil {
		_, err = r.file.Seek(to.at, io.SeekStart)
	}
	return r.cannotWrite(err)
}

// Close closes the file. A second call does nothing.
func (r *Rejects) Close() error {
	if r == nil || r.file == nil {
		return nil
	}
	r.out.Flush()
	err := errors.Join(r.out.Error(), r.file.Close())
	r.file = nil
	return r.cannotWrite(err)
}

func (r *Rejects) cannotWrite(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("write rejected rows: %w; give another file", err)
}
