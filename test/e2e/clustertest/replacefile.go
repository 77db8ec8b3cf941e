package clustertest

import "os"

// ReplaceFile puts text in place of a file's in one step: whoever reads it meanwhile finds the old text or the new one, never a part.
func ReplaceFile(file string, text []byte) error {
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
