package out

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
)

// File is the place of one file about answers, like a report. It is written as answers are: whole or not at all.
type File struct{ path, what string }

// NewFile returns the place that a path names. what names the file in errors: "the report".
func NewFile(path, what string) *File { return &File{path, what} }

// String returns the path.
func (f *File) String() string { return f.path }

// Prepare checks everything that could prevent writing the file and can be known before its content. It removes drafts of dead processes.
func (f *File) Prepare() error {
	name, err := file(f.path, "")
	if err != nil {
		return err
	}
	return probe(filepath.Dir(name), f.what)
}

// Write writes the file. A former file is replaced in one step when all of the new one is on the disk. If content returns an error, nothing
// is replaced.
func (f *File) Write(content func(io.Writer) error) error {
	var w drafts
	defer w.discard()
	name, err := file(f.path, "")
	if err == nil {
		err = w.add(name, func(d *draft) error {
			b := bufio.NewWriterSize(d, bufferBytes)
			if err := content(b); err != nil {
				return err
			}
			return b.Flush()
		})
	}
	if err == nil {
		err = w.publish()
	}
	if err != nil {
		return fmt.Errorf("write %s to %s: %w", f.what, f.path, err)
	}
	return nil
}
