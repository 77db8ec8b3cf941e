package owned

import (
	"errors"
	"os"
	"path/filepath"
)

// Write puts a file with this text in the place of the one that has the name. Readers see the old text or the new one, never a part. A
// durable one is on the disk when Write returns; after a crash of the machine another one may be empty. Where it fails, as on a full
// disk, it leaves nothing beside the file.
func Write(name, text string, durable bool) error {
	f, err := os.OpenFile(name+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, FileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil {
		_ = os.Remove(name + ".tmp")
		return err
	}
	if !durable {
		return nil
	}
	return SyncDir(filepath.Dir(name))
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
