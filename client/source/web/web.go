package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrAddress is wrapped by errors for a text that is not an address of a file.
	ErrAddress = errors.New("no address of a file")

	// ErrChanged is wrapped by the error of a Read when the file changed while it was read.
	ErrChanged = errors.New("the file was changed while it was read")

	// ErrRefused is wrapped by the error for a file that the server does not give.
	ErrRefused = errors.New("the server does not give the file")

	// ErrCut is wrapped by the error of a Read when the connection was cut, and cannot be made again.
	ErrCut = errors.New("the connection was cut")

	// ErrUnreachable is wrapped by the error for a server that cannot be asked: it refuses connections, has no address, or proves no identity.
	ErrUnreachable = errors.New("the server cannot be asked")
)

// NoEnd begins the warning for a file of which it cannot be known that it is complete.
const NoEnd = "the server states neither how long this file is nor where it ends"

const (
	// tries is after how many failures in a row, without a byte, a read gives up.
	tries = 6

	// firstPause is the pause before the second try; each further one is twice as long.
	firstPause = 250 * time.Millisecond

	// patience is how long a server may be silent.
	patience = time.Minute
)

// Is reports whether a path is an address.
func Is(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// Shown returns an address without what may be secret.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// File is a file that is being read. Only Close may be called while another goroutine uses it.
type File struct {
	address string
	as      As
	shown   string
	client  *http.Client
	conn    net.Conn // of the last reply
	pause   time.Duration

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	once   sync.Once

	body     io.ReadCloser // nil if there is no connection
	hang     context.CancelFunc
	at       int64 // bytes that were read
	size     int64 // below 0 if it is not known
	etag     string
	modified string
	marked   bool // a mark of the protocol ends the body
	failed   int  // tries in a row
	err      error
}

// As says how a file is requested. Its fields are optional.
type As struct {
	Shown   string                      // the file's name for people
	Sign    func(*http.Request) error   // changes the head of each request; then no redirect is followed
	Explain func(*http.Response) string // returns more about a refusal
	Warn    func(text string)           // is told what cannot be known of the file
}

// Open asks for a file. The end of ctx ends all reading of it.
func Open(ctx context.Context, address string, as As) (*File, error) {
	return open(ctx, address, as, firstPause, nil)
}

// open is Open with another first pause, and with the certificates that servers may prove themselves by; nil for those of the system.
func open(ctx context.Context, address string, as As, pause time.Duration, roots *x509.CertPool) (*File, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%w: give one like https://host/path/trips.csv", ErrAddress)
	}
	f := &File{address: address, as: as, shown: as.Shown, pause: pause}
	f.client = &http.Client{CheckRedirect: FollowRedirect, Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dial, // with a dialer of its own, a Transport speaks HTTP/1.1 alone, and there is one kind of end
		TLSClientConfig:       &tls.Config{RootCAs: roots},
		ResponseHeaderTimeout: patience,
		TLSHandshakeTimeout:   patience,
		DisableKeepAlives:     true, // leaves no idle connection
		DisableCompression:    true, // counts the file's own bytes
	}}
	if f.shown == "" {
		f.shown = Shown(address)
	}
	if as.Sign != nil {
		f.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	f.ctx, f.cancel = context.WithCancel(ctx)
	if err := f.connect(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read implements io.Reader. An error other than io.EOF is final.
func (f *File) Read(p []byte) (int, error) {
	for f.err == nil && len(p) > 0 {
		if f.err = f.connect(); f.err != nil {
			break
		}
		stop := time.AfterFunc(patience, f.hang)
		n, err := f.body.Read(p)
		stop.Stop()
		f.at += int64(n)
		if err == io.EOF && !f.complete() {
			err = io.ErrUnexpectedEOF
		}
		switch {
		case err == io.EOF:
			f.err = io.EOF
		case err != nil:
			f.drop()
		}
		if n > 0 {
			f.failed = 0
			return n, nil
		}
		if f.err == nil && err != nil {
			f.err = f.wait(fmt.Errorf("%w (%w)", ErrCut, err))
		}
	}
	if f.ctx.Err() != nil {
		f.err = context.Cause(f.ctx)
	}
	return 0, f.err
}

// complete reports whether a body that has ended is the whole file. If the server states neither the length of a body nor where it ends,
// the body ends where the connection does. With TLS that counts only if the server says that it closes the connection (close notify).
// Without TLS nothing tells an end from a cut, so the user is warned.
func (f *File) complete() bool {
	switch {
	case f.size >= 0:
		return f.at == f.size
	case f.marked:
		return true
	case cutBelowTLS(f.conn):
		return false
	}
	if _, secure := f.conn.(*tls.Conn); !secure && f.as.Warn != nil {
		f.as.Warn(fmt.Sprintf("%s; %d bytes came, and nothing shows whether more are missing", NoEnd, f.at))
	}
	return true
}

// Close ends a Read.
func (f *File) Close() error {
	f.once.Do(f.cancel)
	return nil
}

func (f *File) drop() {
	if f.body != nil {
		_ = f.body.Close() // the error is known already
		f.hang()
	}
	f.body = nil
}

// wait counts a failed try, and pauses before the next.
func (f *File) wait(why error) error {
	if f.failed++; f.failed >= tries {
		return fmt.Errorf("%s: %w, %d times in a row behind byte %d; run this again, or download the file first", f.shown, why, f.failed, f.at)
	}
	pause := time.NewTimer(f.pause << (f.failed - 1))
	defer pause.Stop()
	select {
	case <-pause.C:
		return nil
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	}
}

// connect makes a connection, unless there is one.
func (f *File) connect() error {
	for f.body == nil {
		again, err := f.try()
		switch {
		case err == nil:
		case !again:
			return err
		default:
			if err := f.wait(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// try makes a connection; again says that another try may succeed.
func (f *File) try() (again bool, err error) {
	if f.at > 0 && f.etag == "" && f.modified == "" {
		return false, fmt.Errorf("%w: %s, behind byte %d, and the server gives neither ETag nor Last-Modified, so the rest may be of another "+
			"file; download it first", ErrCut, f.shown, f.at)
	}
	ctx, hang := context.WithCancel(f.ctx)
	var handshake atomic.Pointer[error] // a handshake may go on when a request was given up
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:          func(got httptrace.GotConnInfo) { f.conn = got.Conn },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { handshake.Store(&err) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.address, nil)
	if err != nil {
		hang()
		return false, fmt.Errorf("%w: %s", ErrAddress, f.shown)
	}
	req.Header.Set("Accept-Encoding", "identity")
	if f.at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", f.at))
	}
	if f.as.Sign != nil {
		if err := f.as.Sign(req); err != nil {
			hang()
			return false, err
		}
	}
	reply, err := f.client.Do(req)
	if err != nil {
		hang()
		var wrapped *url.Error // its text has the whole address, with its secrets
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		var shook error
		if p := handshake.Load(); p != nil {
			shook = *p
		}
		if lasting(err, shook, f.at > 0) {
			return false, fmt.Errorf("%s: %w: %w", f.shown, ErrUnreachable, err)
		}
		what := ErrCut
		if dialled := (*net.OpError)(nil); errors.As(err, &dialled) && dialled.Op == "dial" {
			what = ErrUnreachable
		}
		return true, fmt.Errorf("%w (%w)", what, err)
	}
	f.body, f.hang = reply.Body, hang
	f.marked = reply.ContentLength >= 0 || len(reply.TransferEncoding) > 0
	if again, err = f.accept(reply); err != nil {
		f.drop()
	}
	return again, err
}

// accept checks the head of a reply, and that it is of the same file.
func (f *File) accept(reply *http.Response) (again bool, err error) {
	from := int64(0)
	size := reply.ContentLength
	switch code := reply.StatusCode; {
	case code == http.StatusOK:
	case code == http.StatusPartialContent && f.at > 0:
		var to int64
		if n, err := fmt.Sscanf(reply.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size); n < 3 || err != nil || from != f.at {
			return false, fmt.Errorf("%w: %s: asked for what is behind byte %d it sends %q", ErrRefused, f.shown, f.at,
				reply.Header.Get("Content-Range"))
		}
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return true, fmt.Errorf("%w: it says %s", ErrRefused, f.said(reply))
	case code == http.StatusRequestedRangeNotSatisfiable && f.at > 0:
		return false, f.changed("it is shorter than before")
	default:
		return false, fmt.Errorf("%w: %s: it says %s", ErrRefused, f.shown, f.said(reply))
	}
	etag, modified := reply.Header.Get("ETag"), reply.Header.Get("Last-Modified")
	if f.at == 0 {
		f.etag, f.modified, f.size = etag, modified, size
		return false, nil
	}
	switch {
	case etag != f.etag:
		return false, f.changed(fmt.Sprintf("its ETag was %s and is %s", f.etag, etag))
	case modified != f.modified:
		return false, f.changed(fmt.Sprintf("it was last modified %s, and then %s", f.modified, modified))
	case f.size < 0:
		f.size = size // the server states it only for a part of the file
	case size != f.size:
		return false, f.changed(fmt.Sprintf("it had %d bytes, and then %d", f.size, size))
	}
	if from == f.at {
		return false, nil
	}
	// The server ignored the range, so the bytes that were read before are skipped.
	if _, err := io.CopyN(io.Discard, reply.Body, f.at); err != nil {
		return true, fmt.Errorf("%w (%w)", ErrCut, err)
	}
	return false, nil
}

// said returns why a server gives no file.
func (f *File) said(reply *http.Response) string {
	if f.as.Explain != nil {
		if more := f.as.Explain(reply); more != "" {
			return reply.Status + " (" + more + ")"
		}
	}
	return reply.Status
}

func (f *File) changed(how string) error {
	return fmt.Errorf("%w: %s, at byte %d: %s; run this again when nothing changes it", ErrChanged, f.shown, f.at, how)
}
