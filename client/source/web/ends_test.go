package web

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// raw answers by writing head and body to the connection itself, and ends the connection by end.
func raw(head string, body []byte, end func(net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		out := bufio.NewWriter(c)
		_, _ = out.WriteString(head + "\r\n\r\n")
		_, _ = out.Write(body)
		_ = out.Flush()
		end(c)
	}
}

// The ways in which a connection ends.
func closed(c net.Conn) { _ = c.Close() } // with TLS: after the close notify

func below(c net.Conn) { // like a router that drops the connection: TLS is not closed
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	_ = c.Close()
}

func reset(c net.Conn) {
	if secure, is := c.(*tls.Conn); is {
		c = secure.NetConn()
	}
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// TestC1_WhereAFileEnds: for each way to state the end of a body and each way to end a connection, a part of a file is never taken for the
// whole.
func TestC1_WhereAFileEnds(t *testing.T) {
	text := content()
	half := len(text) / 2
	const ok, etag = "HTTP/1.1 200 OK\r\nConnection: close", "\r\nETag: \"one\""
	length := fmt.Sprintf("\r\nContent-Length: %d", len(text))
	rest := fmt.Sprintf("HTTP/1.1 206 Partial\r\nConnection: close\r\nETag: \"one\"\r\nContent-Range: bytes %d-%d/%d", half, len(text)-1,
		len(text))
	chunk := func(b []byte) []byte {
		return append(fmt.Appendf(nil, "%x\r\n", len(b)), append(b[:len(b):len(b)], "\r\n"...)...)
	}
	all := append(chunk(text), "0\r\n\r\n"...)
	const chunked = "\r\nTransfer-Encoding: chunked"
	for _, c := range []struct {
		name    string
		with    string // the schemes
		want    error  // nil: the whole file is read
		warned  bool
		replies []http.HandlerFunc
	}{
		{"length, closed", "http https", nil, false, []http.HandlerFunc{raw(ok+length, text, closed)}},
		{"length, dropped", "http https", nil, false, []http.HandlerFunc{raw(ok+length, text, below)}},
		{"length, half", "http https", ErrCut, false, []http.HandlerFunc{raw(ok+length, text[:half], closed)}},
		{"length, half, dropped", "http https", ErrCut, false, []http.HandlerFunc{raw(ok+length, text[:half], below)}},
		{"length, half, reset", "http https", ErrCut, false, []http.HandlerFunc{raw(ok+length, text[:half], reset)}},
		{"length, half, then the rest", "http https", nil, false, []http.HandlerFunc{raw(ok+length+etag, text[:half], below),
			raw(rest, text[half:], below)}},
		{"chunked, closed", "http https", nil, false, []http.HandlerFunc{raw(ok+chunked, all, closed)}},
		{"chunked, dropped", "http https", nil, false, []http.HandlerFunc{raw(ok+chunked, all, below)}},
		{"chunked, half", "http https", ErrCut, false, []http.HandlerFunc{raw(ok+chunked, chunk(text[:half]), closed)}},
		{"chunked, half, dropped", "http https", ErrCut, false, []http.HandlerFunc{raw(ok+chunked, chunk(text[:half]), below)}},
		{"neither, closed", "https", nil, false, []http.HandlerFunc{raw(ok, text, closed)}},
		{"neither, HTTP/1.0, closed", "https", nil, false, []http.HandlerFunc{raw("HTTP/1.0 200 OK", text, closed)}},
		{"neither, dropped", "https", ErrCut, false, []http.HandlerFunc{raw(ok, text[:half], below)}},
		{"neither, HTTP/1.0, dropped", "https", ErrCut, false, []http.HandlerFunc{raw("HTTP/1.0 200 OK", text[:half], below)}},
		{"neither, dropped, then the rest", "https", nil, false, []http.HandlerFunc{raw(ok+etag, text[:half], below),
			raw(rest, text[half:], below)}},
		{"neither, dropped, then changed", "https", ErrChanged, false, []http.HandlerFunc{raw(ok+etag, text[:half], below),
			whole(`"two"`, text)}},
		{"neither, in clear", "http", nil, true, []http.HandlerFunc{raw(ok, text, closed)}},
		{"neither, in clear, HTTP/1.0", "http", nil, true, []http.HandlerFunc{raw("HTTP/1.0 200 OK", text, closed)}},
		{"neither, in clear, reset", "http", ErrCut, false, []http.HandlerFunc{raw(ok, text[:half], reset)}},
	} {
		for scheme := range strings.FieldsSeq(c.with) {
			address, roots := serveAs(t, scheme, c.replies...)
			warned := ""
			got, err := readAs(address, As{Warn: func(text string) { warned += text }}, roots)
			switch {
			case !errors.Is(err, c.want), c.want == nil && !bytes.Equal(got, text):
				t.Errorf("%s over %s: %d bytes of %d, %v", c.name, scheme, len(got), len(text), err)
			case (warned != "") != c.warned, c.warned && !strings.Contains(warned, fmt.Sprintf("%d bytes came", len(text))):
				t.Errorf("%s over %s: warned of %q", c.name, scheme, warned)
			}
		}
	}
}

// serveAs is serve with a scheme. roots has the server's certificate.
func serveAs(t *testing.T, scheme string, handlers ...http.HandlerFunc) (address string, roots *x509.CertPool) {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers[min(int(n.Add(1)), len(handlers))-1](w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if scheme == "http" {
		s.Start()
	} else {
		s.StartTLS()
		roots = rootsOf(s)
	}
	t.Cleanup(s.Close)
	return s.URL + "/d/trips.csv?secret=1", roots
}

func rootsOf(s *httptest.Server) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return roots
}

func readAs(address string, as As, roots *x509.CertPool) ([]byte, error) {
	f, err := open(context.Background(), address, as, time.Millisecond, roots)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}
