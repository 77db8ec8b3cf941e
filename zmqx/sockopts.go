package zmqx

import (
	"net"
	"time"
)

// tune sets what the kernel should know of a connection. Failures are not errors: a connection that is gone already
// says so at its first read.
func tune(conn net.Conn, o Options) {
	size := o.SocketBuffer
	switch c := conn.(type) {
	case *net.TCPConn:
		_ = c.SetNoDelay(true)
		_ = c.SetKeepAliveConfig(keepAlive(o.KeepAlive))
		if size > 0 {
			_ = c.SetReadBuffer(size)
			_ = c.SetWriteBuffer(size)
		}
	case *net.UnixConn:
		if size == 0 {
			size = mib
		}
		_ = c.SetReadBuffer(size)
		_ = c.SetWriteBuffer(size)
	}
}

func keepAlive(idle time.Duration) net.KeepAliveConfig {
	if idle < 0 {
		return net.KeepAliveConfig{Enable: false}
	}
	return net.KeepAliveConfig{Enable: true, Idle: idle, Interval: max(idle/3, time.Second), Count: 3}
}
