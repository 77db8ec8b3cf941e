package medic

import (
	"errors"
	"os"
	"path/filepath"
)

// ReplaceFile puts a file with this text in the place of the one that has the name. Readers see the old text or the new one, never a part. A
// durable one is on the disk when ReplaceFile returns.
func ReplaceFile(name, text string, durable bool) error {
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(name+".tmp", name); err != nil || !durable {
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
