package zmqx

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

var benchSizes = []int{256, 1 << 10, 64 << 10, 256 << 10, 1 << 20}

func benchMessage(size int) Message {
	return Message{make([]byte, 60), make([]byte, size)}
}

// BenchmarkPushPull measures one sender and one receiver in one process. The messages are like those of a link: a header of 60 bytes and a
// payload.
func BenchmarkPushPull(b *testing.B) {
	for _, transport := range []string{"tcp", "ipc"} {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", transport, size), func(b *testing.B) { benchPushPull(b, transport, size, false) })
		}
	}
}

// BenchmarkRecycled measures the same with a receiver that gives its batches back.
func BenchmarkRecycled(b *testing.B) {
	for _, transport := range []string{"tcp", "ipc"} {
		for _, size := range benchSizes[2:] {
			b.Run(fmt.Sprintf("%s/%d", transport, size), func(b *testing.B) { benchPushPull(b, transport, size, true) })
		}
	}
}

func benchPushPull(b *testing.B, transport string, size int, recycle bool) {
	pull, err := NewPull(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer pull.Close()
	address := "tcp://127.0.0.1:0"
	if transport == "ipc" {
		address = "ipc://" + filepath.Join(b.TempDir(), "s")
	}
	if address, err = pull.Listen(address); err != nil {
		b.Fatal(err)
	}
	push, err := NewPush(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer push.Close()
	if err := push.Connect(address); err != nil {
		b.Fatal(err)
	}
	m := benchMessage(size)
	ctx := context.Background()
	exchange := func(n int) {
		go func() {
			for range n {
				if err := push.send(ctx, m); err != nil {
					b.Error(err)
					return
				}
			}
		}()
		for got := 0; got < n; {
			batch, err := pull.Recv(ctx)
			if err != nil {
				b.Fatal(err)
			}
			got += len(batch)
			if recycle {
				pull.Recycle(batch)
			}
		}
	}
	exchange(100)
	b.SetBytes(int64(m.Size()))
	b.ReportAllocs()
	b.ResetTimer()
	exchange(b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
}

// BenchmarkEngine measures the same through zmq4's own Conn.SendMsg and RecvMsg. Its figures are the reason why this package does the
// framing itself.
func BenchmarkEngine(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("tcp/%d", size), func(b *testing.B) { benchEngine(b, size) })
	}
}

func benchEngine(b *testing.B, size int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan *zmq4.Conn)
	go func() {
		raw, err := l.Accept()
		if err != nil {
			b.Error(err)
		}
		conn, err := zmq4.Open(raw, null.Security(), zmq4.Pull, nil, true, nil)
		if err != nil {
			b.Error(err)
		}
		accepted <- conn
	}()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	out, err := zmq4.Open(raw, null.Security(), zmq4.Push, nil, false, nil)
	if err != nil {
		b.Fatal(err)
	}
	in := <-accepted
	defer in.Close()
	defer out.Close()
	m := benchMessage(size)
	b.SetBytes(int64(m.Size()))
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for range b.N {
			if err := out.SendMsg(zmq4.NewMsgFrom(m...)); err != nil {
				b.Error(err)
				return
			}
		}
	}()
	for range b.N {
		if _, err := in.RecvMsg(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
}

// BenchmarkReqRouter measures a question and its answer, one at a time.
func BenchmarkReqRouter(b *testing.B) {
	for _, endpoint := range []string{"tcp://127.0.0.1:0", ipcEndpoint(b)} {
		b.Run(endpoint[:3], func(b *testing.B) {
			router, address := newRouter(b, Options{}, endpoint)
			echo(b, router)
			req := newReq(b, Options{}, address)
			question := benchMessage(256)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := req.Do(context.Background(), question); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
