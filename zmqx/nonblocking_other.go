//go:build !linux

package zmqx

import "net"

func nonblocking(conn net.Conn) net.Conn { return conn }

func beneath(conn net.Conn) net.Conn { return conn }
