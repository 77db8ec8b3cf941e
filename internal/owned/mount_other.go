//go:build !linux

package owned

// mountedReadOnly: containers are for Linux.
func mountedReadOnly(string) bool { return false }
