package zmqx

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
)

// maxSocketPath is what fits sockaddr_un on every system we know; Linux would take three more.
const maxSocketPath = 104

// endpoint is a parsed address.
type endpoint struct {
	network string // "tcp" or "unix"
	address string // host:port or a path
}

func parseEndpoint(s string) (endpoint, error) {
	bad := func(why string) (endpoint, error) {
		return endpoint{}, fmt.Errorf("%w %q: %s; write tcp://host:port or ipc:///absolute/path", errEndpoint, s, why)
	}
	if path, ok := strings.CutPrefix(s, "ipc://"); ok {
		switch {
		case !filepath.IsAbs(path):
			return bad("the path is not absolute")
		case len(path) > maxSocketPath:
			return bad(fmt.Sprintf("the path has %d bytes, a socket's may have %d", len(path), maxSocketPath))
		case strings.ContainsRune(path, 0):
			return bad("the path contains a zero byte")
		}
		return endpoint{"unix", path}, nil
	}
	address, ok := strings.CutPrefix(s, "tcp://")
	if !ok {
		return bad("unknown transport")
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return bad(err.Error())
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return bad("the port is not a number from 0 to 65535")
	}
	if host == "*" { // how libzmq writes "all interfaces"
		address = ":" + port
	}
	return endpoint{"tcp", address}, nil
}

func (e endpoint) String() string {
	if e.network == "unix" {
		return "ipc://" + e.address
	}
	return "tcp://" + e.address
}
