package zmqx

import (
	"net"

	"golang.org/x/sys/unix"
)

// ownerOf asks the kernel for the user at the other end of a unix socket: who connected, or who listens.
func ownerOf(conn *net.UnixConn) (int, error) {
	return askSocket(conn, func(fd int) (int, error) {
		c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return 0, err
		}
		return int(c.Uid), nil
	})
}
