//go:build !linux

package wal

func preallocate(File, int64, int64) bool { return false }

func diskSize(string) (int64, bool) { return 0, false }
