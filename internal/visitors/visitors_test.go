package visitors

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestS7_IdleSocketsKeepNobodyOut: connections that say nothing, half of a header, or nothing more after a request, make room for one that
// asks. Those that are being answered stay.
func TestS7_IdleSocketsKeepNobodyOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 8
	begun, release := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-release
		}
		_, _ = io.WriteString(w, "ok")
	})}
	ended := make(chan error, 1)
	go func() { ended <- Serve(server, l, most) }()
	dial := func(say string) (net.Conn, *bufio.Reader) {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			err = c.SetDeadline(time.Now().Add(2 * time.Minute))
		}
		if err == nil {
			_, err = io.WriteString(c, say)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, bufio.NewReader(c)
	}
	answered := func(what string, from *bufio.Reader) {
		t.Helper()
		answer, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if text, err := io.ReadAll(answer.Body); string(text) != "ok" || err != nil {
			t.Errorf("%s: %q, %v", what, text, err)
		}
	}
	const slow, ask = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	_, first := dial(slow)
	<-begun
	for what, say := range map[string]string{"nothing": "", "half a header": "GET / HTTP/1.1\r\nHost:", "a request": ask} {
		for range 4 * most {
			_, answer := dial(say)
			if say == ask {
				answered(what, answer)
			}
		}
		_, answer := dial(ask)
		answered("after many that say "+what, answer)
	}
	for range most - 1 {
		dial(slow)
		<-begun
	}
	if _, answer := dial(""); true {
		if _, err := answer.ReadByte(); err == nil {
			t.Error("there is room for one more than there may be")
		}
	}
	for range most {
		release <- struct{}{}
	}
	answered("the first", first)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	<-ended
}
