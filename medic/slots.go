package medic

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"posta.dev/posta/internal/owned"
)

// A file of slots holds one short text and is overwritten in place: once it exists, a write needs no room on the disk. So medics can
// restart processes while the disk is full. It has two slots of slotSize bytes, each one line:
//
//	posta-2 NUMBER CHECKSUM TEXT, filled up with spaces
//
// A write goes to the slot with the lower number. After a crash in the middle of a write the other slot still holds the text before, which
// is then valid: the write had not returned. owned.Write was rejected, because it needs room for a second file.
const (
	slotSize    = 512 // bytes
	slotVersion = "posta-2"
)

// ErrBadSlots is wrapped by ReadSlots when neither slot makes sense: the file is damaged, or of another version.
var ErrBadSlots = errors.New("it is damaged, or was written by another version")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type slot struct {
	number uint64
	text   string
	good   bool
}

func (s slot) encode() ([]byte, error) {
	sum := crc32.Checksum([]byte(fmt.Sprintf("%d %s", s.number, s.text)), castagnoli)
	line := fmt.Sprintf("%s %d %08x %s", slotVersion, s.number, sum, s.text)
	if len(line) >= slotSize || strings.ContainsAny(s.text, "\n") || strings.TrimRight(s.text, " ") != s.text {
		return nil, fmt.Errorf("a text of %d bytes fits no slot of %d", len(s.text), slotSize)
	}
	return []byte(fmt.Sprintf("%-*s\n", slotSize-1, line)), nil
}

func decodeSlot(b []byte) (s slot) {
	parts := strings.SplitN(strings.TrimRight(string(b), " \n"), " ", 4)
	if len(parts) < 3 || parts[0] != slotVersion {
		return s
	}
	if len(parts) == 4 {
		s.text = parts[3]
	}
	n, err := strconv.ParseUint(parts[1], 10, 64)
	s.number = n
	s.good = err == nil && fmt.Sprintf("%08x", crc32.Checksum([]byte(fmt.Sprintf("%d %s", n, s.text)), castagnoli)) == parts[2]
	return s
}

// readSlots returns the valid slot with the highest number, and the offset of the other slot.
func readSlots(f io.ReaderAt) (newest slot, other int64, err error) {
	b := make([]byte, 2*slotSize)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return slot{}, 0, err
	}
	if n < len(b) {
		return slot{}, 0, ErrBadSlots
	}
	first, second := decodeSlot(b[:slotSize]), decodeSlot(b[slotSize:])
	switch {
	case first.good && (!second.good || first.number >= second.number):
		return first, slotSize, nil
	case second.good:
		return second, 0, nil
	}
	return slot{}, 0, ErrBadSlots
}

// ReadSlots returns the text. The error wraps fs.ErrNotExist or ErrBadSlots.
func ReadSlots(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	s, _, err := readSlots(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return s.text, nil
}

// WriteSlots replaces the text of the file, and creates the file if need be. If durable is set, the text is on disk on return. A damaged
// file is replaced.
func WriteSlots(name, text string, durable bool) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return createSlots(name, text, durable)
	}
	if err != nil {
		return err
	}
	last, at, err := readSlots(f)
	if errors.Is(err, ErrBadSlots) {
		return errors.Join(f.Close(), createSlots(name, text, durable))
	}
	var line []byte
	if err == nil {
		line, err = slot{number: last.number + 1, text: text}.encode()
	}
	if err == nil {
		_, err = f.WriteAt(line, at)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// createSlots creates the whole file, or nothing.
func createSlots(name, text string, durable bool) error {
	line, err := slot{number: 1, text: text}.encode()
	if err != nil {
		return err
	}
	return owned.Write(name, string(line)+string(line), durable)
}

// ReserveSlots creates the file, without a text, if it does not exist, so that later writes need no room. Several processes may reserve one
// file at once, and one of them may already write to it; its text must stay. So the file gets its name by link, which never replaces a file
// as rename does. Until then its name is random. A pid would not be unique: medics in containers share these files and are all process 1.
//
// A process that is killed in between leaves its random name behind. A process that finds the file in place removes such names. One of them
// may belong to a process that is about to link it. Its link then fails, which does no harm, because the file exists.
func ReserveSlots(name string) error {
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		if err := makeSlots(name); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return sweepSlots(name)
}

// makeSlots creates the file, unless another process is faster.
func makeSlots(name string) error {
	own := fmt.Sprintf("%s.%016x", name, rand.Uint64())
	err := createSlots(own, "", true)
	if err == nil {
		err = os.Link(own, name)
	}
	// the file exists, or another process saw it and removed our random name
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(name)
	}
	return errors.Join(err, owned.SyncDir(filepath.Dir(name)))
}

// sweepSlots removes random names that ReserveSlots left for a file that exists.
func sweepSlots(name string) error {
	dir, base := filepath.Split(name)
	files, err := os.ReadDir(filepath.Clean(dir))
	for _, f := range files {
		random, ok := strings.CutPrefix(f.Name(), base+".")
		random = strings.TrimSuffix(random, ".tmp")
		if _, notHex := strconv.ParseUint(random, 16, 64); !ok || len(random) != 16 || notHex != nil {
			continue
		}
		if gone := os.Remove(filepath.Join(dir, f.Name())); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
