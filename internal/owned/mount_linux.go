package owned

import "syscall"

// readOnlyMount is ST_RDONLY of statfs(2).
const readOnlyMount = 1

// mountedReadOnly reports whether a file is in a file system, or is a mount of its own, to which nobody can write here.
func mountedReadOnly(path string) bool {
	var s syscall.Statfs_t
	return syscall.Statfs(path, &s) == nil && s.Flags&readOnlyMount != 0
}
