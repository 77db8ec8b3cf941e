package zmqx

import (
	"fmt"
	"net"
	"os"
)

// CheckOwner refuses a unix socket whose other end belongs to another user (S1). That holds in both directions: for a user that
// connects, and for one that has put its own socket in the place of ours. Root is let in, because it could do everything
// anyway. Connections of other kinds pass.
func CheckOwner(conn net.Conn) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return nil
	}
	uid, err := ownerOf(u)
	if err != nil {
		return fmt.Errorf("%w: cannot tell whose process is at the other end of %s: %w", ErrRefused, remoteName(conn), err)
	}
	if us := os.Geteuid(); !mayConnect(uid, us) {
		return fmt.Errorf("%w: the process at the other end of %s belongs to the user with the id %d, and only %d and root may be there; run "+
			"both as the same user",
			ErrRefused, remoteName(conn), uid, us)
	}
	return nil
}

func mayConnect(uid, us int) bool { return uid == us || uid == 0 }

// askSocket calls ask with the file descriptor of conn.
func askSocket(conn *net.UnixConn, ask func(fd int) (int, error)) (answer int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	if e := raw.Control(func(fd uintptr) { answer, err = ask(int(fd)) }); e != nil {
		return 0, e
	}
	return answer, err
}
