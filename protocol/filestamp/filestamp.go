// Package filestamp makes the stamp of a file. Clients and nodes compare it when a node reads a file in place (S8).
package filestamp

import (
	"io/fs"
	"syscall"

	"posta.dev/posta/protocol"
)

// Of returns the stamp of a file of the operating system.
func Of(info fs.FileInfo) protocol.Stamp {
	s := protocol.Stamp{Size: uint64(max(0, info.Size())), Modified: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode = sys.Ino
	}
	return s
}
