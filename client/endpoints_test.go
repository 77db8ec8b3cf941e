package client

import (
	"net"
	"sync"
	"testing"
)

// silentEndpoint accepts connections and never sends a byte.
func silentEndpoint(t testing.TB) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		var open []net.Conn
		for {
			conn, err := listener.Accept()
			if err != nil {
				break
			}
			open = append(open, conn)
		}
		for _, conn := range open {
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return "tcp://" + listener.Addr().String()
}
