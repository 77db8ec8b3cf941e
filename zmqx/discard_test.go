package zmqx

import (
	"context"
	"testing"
	"time"
)

// TestR15_TooLargeIsReported: with ReportTooLarge, a message above the limit is discarded. Its sender can get an answer, and the messages
// before and after it arrive. This holds for parts of any size and number.
func TestR15_TooLargeIsReported(t *testing.T) {
	router, err := NewRouter(Options{MaxFrame: 64 << 10, ReportTooLarge: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = router.Close() }()
	at, err := router.Listen("tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	req, err := NewReq(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = req.Close() }()
	if err := req.Connect(at); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	go func() {
		for {
			batch, err := router.Recv(ctx)
			if err != nil {
				return
			}
			for _, r := range batch {
				answer := byte('k')
				if r.TooLarge > 0 {
					answer = 'l'
				}
				_ = router.Send(r.Peer, Message{nil, {answer}}) // a missing answer fails the test
			}
		}
	}()
	for _, parts := range []Message{
		{make([]byte, 10)}, {make([]byte, 64<<10)}, {make([]byte, 64<<10+1)}, {make([]byte, 5)}, {make([]byte, 20<<20)},
		{make([]byte, 60<<10), make([]byte, 60<<10), make([]byte, 60<<10)}, {make([]byte, 100), make([]byte, 1<<20)}, {make([]byte, 1)},
	} {
		want := byte('k')
		for _, p := range parts {
			if len(p) > 64<<10 || parts.Size() > 128<<10 {
				want = 'l'
			}
		}
		answer, err := req.Do(ctx, parts)
		if err != nil || answer[0][0] != want {
			t.Fatalf("%d bytes in %d parts: %q, not %q; %v", parts.Size(), len(parts), answer, want, err)
		}
	}
}
