package zmqx

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/security"
)

// BenchmarkTLSBesidePlain moves the same frames alternately over plain tcp and over tcp with TLS. It reports the speed of TLS as a fraction
// of plain: the median of the rounds' ratios, which a busy machine changes little.
func BenchmarkTLSBesidePlain(b *testing.B) {
	for _, size := range []int{256, 4 << 10, 64 << 10, 256 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			k := newKeyring(b)
			pull, address := keyedPull(b, k, Options{}, "tcp://127.0.0.1:0")
			inTurn(b, size, "tls/plain", hop{keyedPush(b, k, Options{}, address), pull}, newHop(b, "tcp://127.0.0.1:0"))
		})
	}
}

// BenchmarkUnixBesideTCP reports the speed of unix sockets as a fraction of tcp in the same way.
func BenchmarkUnixBesideTCP(b *testing.B) {
	for _, size := range []int{256, 4 << 10, 64 << 10, 256 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			inTurn(b, size, "unix/tcp", newHop(b, ipcEndpoint(b)), newHop(b, "tcp://127.0.0.1:0"))
		})
	}
}

// BenchmarkTLSHandshake measures how many connections a second can prove their identities, both ends in one process.
func BenchmarkTLSHandshake(b *testing.B) {
	k := newKeyring(b)
	keys := k.node(b, "receiver-1")
	told := newEvents()
	_, address := newPull(b, Options{TLS: keys.Socket(security.Data, anyone)}, "tcp://127.0.0.1:0")
	push := keyedPush(b, k, Options{BackoffMin: time.Nanosecond, OnEvent: told.take}, address)
	for b.Loop() {
		told.await(b, Connected)
		push.Reset()
	}
}

// hop is a sender and its receiver.
type hop struct {
	push *Push
	pull *Pull
}

func newHop(b *testing.B, endpoint string) hop {
	pull, address := newPull(b, Options{}, endpoint)
	return hop{newPush(b, Options{}, address), pull}
}

func (h hop) move(b *testing.B, n int, m Message) time.Duration {
	began := time.Now()
	done := make(chan error, 1)
	go func() {
		for range n {
			if err := h.push.send(context.Background(), m); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for got := 0; got < n; {
		batch, err := h.pull.Recv(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		got += len(batch)
		h.pull.Recycle(batch)
	}
	noError(b, <-done)
	return time.Since(began)
}

func inTurn(b *testing.B, size int, name string, one, other hop) {
	m := benchMessage(size)
	n := max(16, min(20_000, 32<<20/m.Size()))
	one.move(b, n, m)
	other.move(b, n, m)
	var ratios []float64
	for b.Loop() {
		ratios = append(ratios, 1/(one.move(b, n, m).Seconds()/other.move(b, n, m).Seconds()))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], name)
	b.ReportMetric(float64(n*m.Size()*len(ratios)*2)/b.Elapsed().Seconds()/1e6, "MB/s")
}
