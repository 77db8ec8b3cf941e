package lineedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of a history.
const (
	mostEntries = 1000
	mostBytes   = 1 << 20 // of its file; a longer file is cut at the front when it is opened
)

// History holds the lines that were typed before. It is kept in a file that only its user can read, one entry a line. Several prompts may
// share a file; each adds its entries.
type History struct {
	name    string // "" keeps entries only in this process
	entries []string
}

// OpenHistory reads a file. If the file cannot be read, the history begins empty, the error says why, and the history
// can be used nevertheless.
func OpenHistory(name string) (*History, error) {
	h := &History{}
	if name == "" {
		return h, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return h, fmt.Errorf("keep the history of the prompt: %w", err)
	}
	text, cut, err := last(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return h, fmt.Errorf("read the history of the prompt: %w", err)
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			h.remember(line)
		}
	}
	if cut { // an entry that another prompt adds at this moment is lost
		if err := replace(name, h.entries); err != nil {
			return h, fmt.Errorf("shorten the history of the prompt: %w", err)
		}
	}
	h.name = name
	return h, nil
}

// last reads the complete lines among the last bytes of a file. cut reports whether the file is longer.
func last(name string) (text string, cut bool, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() { // reading a pipe would block
		return "", false, &fs.PathError{Op: "open", Path: name, Err: errors.New("this is not a file")}
	}
	f, err := os.Open(name)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }() // read only
	if cut = info.Size() > mostBytes; cut {
		if _, err := f.Seek(-mostBytes, io.SeekEnd); err != nil {
			return "", false, err
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if cut {
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	return string(b), cut, err
}

func replace(name string, entries []string) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(entries, "\n") + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (h *History) remember(entry string) {
	if n := len(h.entries); n > 0 && h.entries[n-1] == entry {
		return
	}
	if h.entries = append(h.entries, entry); len(h.entries) > mostEntries {
		h.entries = append([]string(nil), h.entries[1:]...)
	}
}

// Keep adds an entry, which must not contain line ends. An error is about the file; only the first one is returned.
func (h *History) Keep(entry string) error {
	if n := len(h.entries); entry == "" || n > 0 && h.entries[n-1] == entry {
		return nil
	}
	h.remember(entry)
	if h.name == "" {
		return nil
	}
	f, err := os.OpenFile(h.name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(entry + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		h.name = ""
		return fmt.Errorf("keep the history of the prompt: %w", err)
	}
	return nil
}

// Add implements term.History: the editor calls it for each line. It does nothing, because a statement may have several lines: the caller
// joins them and calls Keep.
func (h *History) Add(string) {}

// Len returns how many entries there are.
func (h *History) Len() int { return len(h.entries) }

// At returns an entry; 0 is the latest.
func (h *History) At(i int) string { return h.entries[len(h.entries)-1-i] }
