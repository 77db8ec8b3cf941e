//go:build !linux

package wal

// startWriteback is for systems that can be asked to write without waiting; others write when Sync says so.
func startWriteback(File) {}
