package zmqx

import (
	"net"
	"time"
)

// ipcBuffer is what a unix socket asks the kernel for, in bytes, as far as the system's maximum allows. The default is far
// less, and throughput suffers; tcp is left alone, because there the kernel tunes its buffers itself, and better.
const ipcBuffer = 1 << 20

// setSocketOptions sets the kernel's options of a connection. It ignores failures: if the connection is gone, the first read
// fails.
func setSocketOptions(conn net.Conn, o Options) {
	switch c := conn.(type) {
	case *net.TCPConn:
		_ = c.SetNoDelay(true)
		_ = c.SetKeepAliveConfig(keepAlive(o.KeepAlive))
	case *net.UnixConn:
		_ = c.SetReadBuffer(ipcBuffer)
		_ = c.SetWriteBuffer(ipcBuffer)
	}
}

func keepAlive(idle time.Duration) net.KeepAliveConfig {
	if idle < 0 {
		return net.KeepAliveConfig{Enable: false}
	}
	return net.KeepAliveConfig{Enable: true, Idle: idle, Interval: max(idle/3, time.Second), Count: 3}
}
