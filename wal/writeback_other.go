//go:build !linux

package wal

// beginSync is for systems that can be asked to write without waiting; others write when Sync says so.
func beginSync(File) {}
