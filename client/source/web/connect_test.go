package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// taken returns an address where nobody listens, and where nobody else can begin to: the port has an owner until the test ends.
func taken(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", address.(*syscall.SockaddrInet4).Port)
}

// TestC1_LastingErrorsAreToldAtOnce: what another try would not change is told after the first, as what it is. The long pause would show
// any other.
func TestC1_LastingErrorsAreToldAtOnce(t *testing.T) {
	refused := taken(t)
	quiet := func(s *httptest.Server) *httptest.Server {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		t.Cleanup(s.Close)
		return s
	}
	w := whole(`"one"`, content())
	untrusted := quiet(httptest.NewUnstartedServer(w))
	untrusted.StartTLS()
	old := quiet(httptest.NewUnstartedServer(w))
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	picky := quiet(httptest.NewUnstartedServer(w))
	picky.TLS = &tls.Config{MaxVersion: tls.VersionTLS12, ClientAuth: tls.RequireAnyClientCert}
	picky.StartTLS()
	plain := quiet(httptest.NewUnstartedServer(w))
	plain.Start()
	garbage := func(w http.ResponseWriter, _ *http.Request) { raw("SSH-2.0 not HTTP", nil, closed)(w, nil) }
	mute := quiet(httptest.NewUnstartedServer(http.HandlerFunc(garbage)))
	mute.Start()
	for address, says := range map[string]string{
		"http://" + refused:  "connection refused",
		"https://" + refused: "connection refused",
		untrusted.URL:        "certificate",
		old.URL:              "tls: ",
		picky.URL:            "tls: ",
		strings.Replace(plain.URL, "http:", "https:", 1): "HTTP response to HTTPS client",
	} {
		roots := rootsOf(old) // all servers here have one certificate
		if address == untrusted.URL {
			roots = nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := open(ctx, address+"/t.csv?secret=1", As{}, time.Hour, roots)
		cancel()
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, %q: %v", address, says, err)
		}
	}
}

// TestC1_PassingErrorsAreRetried: a server that is started again while a file is read refuses connections for a while, and a handshake may
// be cut.
func TestC1_PassingErrorsAreRetried(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	unknown := &net.DNSError{IsNotFound: true}
	for _, c := range []struct {
		err, handshake error
		atFirst, later bool // whether it lasts
	}{
		{refused, nil, true, false},
		{unknown, nil, true, false},
		{&net.DNSError{IsTemporary: true}, nil, false, false},
		{io.EOF, nil, false, false},
		{io.EOF, io.EOF, false, false},
		{syscall.ECONNRESET, syscall.ECONNRESET, false, false},
		{os.ErrDeadlineExceeded, os.ErrDeadlineExceeded, false, false},
		{tls.RecordHeaderError{}, tls.RecordHeaderError{}, true, true},
		{errDowngrade, nil, true, true},
	} {
		if first, later := lasting(c.err, c.handshake, false), lasting(c.err, c.handshake, true); first != c.atFirst || later != c.later {
			t.Errorf("%v, %v: at first %v, later %v", c.err, c.handshake, first, later)
		}
	}
}

// TestC1_Redirects: none leads from https to http, or to something else than these, and no other server gets to know the address that led
// to it.
func TestC1_Redirects(t *testing.T) {
	text := content()
	var referer atomic.Value
	referer.Store("")
	target := func(w http.ResponseWriter, r *http.Request) {
		referer.Store(referer.Load().(string) + r.Header.Get("Referer"))
		whole(`"one"`, text)(w, r)
	}
	to := func(address string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
	}
	plain, _ := serveAs(t, "http", target)
	secure, roots := serveAs(t, "https", target)
	for _, c := range []struct {
		from, to string
		says     string // "" if the file is read
	}{
		{"http", plain, ""}, {"http", secure, ""}, {"https", secure, ""},
		{"https", plain, "redirects from https to http"},
		{"http", "file:///etc/passwd", "redirects to a \"file\""},
		{"https", "ftp://127.0.0.1/x", "redirects to a \"ftp\""},
	} {
		address, _ := serveAs(t, c.from, to(c.to))
		got, err := readAs(address, As{}, roots)
		switch {
		case c.says == "" && (err != nil || !slices.Equal(got, text)):
			t.Errorf("%s to %s: %d bytes, %v", c.from, c.to, len(got), err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "times in a row")):
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
	var round string
	round, _ = serveAs(t, "http", func(w http.ResponseWriter, r *http.Request) { to(round)(w, r) })
	if _, err := readAs(round, As{}, nil); !errors.Is(err, errRounds) {
		t.Error(err)
	}
	if got := referer.Load().(string); got != "" {
		t.Errorf("another server was told %q", got)
	}
}
