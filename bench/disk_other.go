//go:build !linux

package bench

import (
	"errors"
	"os"
)

const diskHints = false

func reserve(*os.File, int64) error { return errors.ErrUnsupported }

func syncData(f *os.File) error { return f.Sync() }

func startWriting(*os.File) {}
