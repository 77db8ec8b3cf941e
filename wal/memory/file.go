package memory

import (
	"errors"
	"os"
)

// file is an open file of a Disk. What is written to it after Remove is lost.
type file struct {
	disk    *Disk
	entry   *entry
	name    string
	appends bool
	at      int64
}

func (f *file) Write(b []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.appends {
		f.at = f.entry.size
	}
	n, err := f.writeAtLocked(b, f.at)
	f.at += int64(n)
	return n, err
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.writeAtLocked(b, off)
}

// writeAtLocked writes all of b, or leaves the size of the file as it was.
func (f *file) writeAtLocked(b []byte, off int64) (n int, err error) {
	if f.entry.gone || len(b) == 0 {
		return len(b), nil
	}
	before := f.entry.size
	if end := off + int64(len(b)); end > before {
		if err := f.disk.resizeLocked(f.entry, end); err != nil {
			return 0, failed("write", f.name, err)
		}
	}
	if f.entry.file != nil {
		if _, err := f.entry.file.WriteAt(b, off); err != nil {
			return 0, failed("write", f.name, errors.Join(err, f.disk.resizeLocked(f.entry, before)))
		}
		return len(b), nil
	}
	for n < len(b) {
		at := off + int64(n)
		n += copy(f.entry.blocks[at/blockSize][at%blockSize:], b[n:])
	}
	return n, nil
}

func (f *file) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.entry.gone {
		return nil
	}
	if err := f.disk.resizeLocked(f.entry, size); err != nil {
		return failed("truncate", f.name, err)
	}
	return nil
}

func (f *file) Sync() error { return nil }

func (f *file) Close() error { return nil }

// readAt fills p. The caller holds the lock, and knows that the file is long enough.
func (e *entry) readAt(p []byte, off int64) error {
	if e.file != nil {
		_, err := e.file.ReadAt(p, off)
		return err
	}
	for n := 0; n < len(p); {
		at := off + int64(n)
		n += copy(p[n:], e.blocks[at/blockSize][at%blockSize:])
	}
	return nil
}

// resizeLocked gives a file another size. A file that memory has no room for moves to the real disk, and stays there until it is empty.
func (d *Disk) resizeLocked(e *entry, size int64) error {
	blocks := int((size + blockSize - 1) / blockSize)
	switch more := int64(blocks-len(e.blocks)) * blockSize; {
	case e.file != nil && size == 0:
		return d.freeLocked(e)
	case e.file == nil && more > d.room:
		if err := d.moveLocked(e); err != nil {
			return err
		}
		fallthrough
	case e.file != nil:
		if err := e.file.Truncate(size); err != nil {
			return err
		}
		e.size = size
		return nil
	default:
		d.room -= more
	}
	for len(e.blocks) < blocks {
		e.blocks = append(e.blocks, make([]byte, blockSize))
	}
	clear(e.blocks[blocks:])
	if e.blocks = e.blocks[:blocks]; size < e.size && size%blockSize > 0 {
		clear(e.blocks[blocks-1][size%blockSize:])
	}
	e.size = size
	return nil
}

// moveLocked moves the content of a file to the real disk, under a name that is removed at once.
func (d *Disk) moveLocked(e *entry) error {
	f, err := os.CreateTemp(d.below, "posta-log-")
	if err != nil {
		return err
	}
	err = os.Remove(f.Name())
	left := e.size
	for _, b := range e.blocks {
		if err == nil {
			_, err = f.Write(b[:min(left, blockSize)])
			left -= blockSize
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	d.room += int64(len(e.blocks)) * blockSize
	e.blocks, e.file = nil, f
	return nil
}

// freeLocked empties a file.
func (d *Disk) freeLocked(e *entry) (err error) {
	if e.file != nil {
		err = e.file.Close()
	}
	d.room += int64(len(e.blocks)) * blockSize
	e.blocks, e.file, e.size = nil, nil, 0
	return err
}
