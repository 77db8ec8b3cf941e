package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

var (
	// ErrAddress is wrapped by the errors for what is no address of a file.
	ErrAddress = errors.New("no address of a file")

	// ErrChanged is wrapped by the error of a Read when the file became another one while it was read.
	ErrChanged = errors.New("the file was changed while it was read")

	// ErrRefused is wrapped by the error for a file that the server does not give.
	ErrRefused = errors.New("the server does not give the file")

	// ErrCut is wrapped by the error of a Read when the connection was cut, and cannot be made again.
	ErrCut = errors.New("the connection was cut")
)

const (
	// tries is how often in a row a connection is made that brings nothing.
	tries = 6

	// firstPause is the pause before the second try; each further one is twice as long.
	firstPause = 250 * time.Millisecond

	// patience is how long a server may say nothing.
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

// File is a file that is read. It is used by one goroutine at a time, but for Close.
type File struct {
	address string
	shown   string
	client  *http.Client
	pause   time.Duration

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	once   sync.Once

	body     io.ReadCloser // nil: there is no connection
	hang     context.CancelFunc
	at       int64 // bytes that were read
	size     int64 // below 0 if it is not known
	etag     string
	modified string
	failed   int // tries in a row
	err      error
}

// Open asks for a file.
func Open(address string) (*File, error) { return open(address, firstPause) }

func open(address string, pause time.Duration) (*File, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%w: give one like https://host/path/trips.csv", ErrAddress)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: patience, TLSHandshakeTimeout: patience,
		DisableKeepAlives:  true, // nothing is left behind
		DisableCompression: true, // bytes are counted as they lie there
	}
	f := &File{address: address, shown: Shown(address), client: &http.Client{Transport: transport}, pause: pause}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if err := f.connect(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read is that of io.Reader. An error other than io.EOF is final.
func (f *File) Read(p []byte) (int, error) {
	for f.err == nil && len(p) > 0 {
		if f.err = f.connect(); f.err != nil {
			break
		}
		stop := time.AfterFunc(patience, f.hang)
		n, err := f.body.Read(p)
		stop.Stop()
		f.at += int64(n)
		switch {
		case err == io.EOF && (f.size < 0 || f.at == f.size):
			f.err = io.EOF
		case err != nil:
			f.drop()
		}
		if n > 0 {
			f.failed = 0
			return n, nil
		}
		if f.err == nil && err != nil {
			f.err = f.wait(err)
		}
	}
	if f.ctx.Err() != nil {
		f.err = context.Cause(f.ctx)
	}
	return 0, f.err
}

// Close ends a Read.
func (f *File) Close() error {
	f.once.Do(f.cancel)
	return nil
}

func (f *File) drop() {
	if f.body != nil {
		_ = f.body.Close() // what was wrong is known
		f.hang()
	}
	f.body = nil
}

// wait counts a failed try, and pauses before the next.
func (f *File) wait(why error) error {
	var wrapped *url.Error // it names the whole address
	if errors.As(why, &wrapped) {
		why = wrapped.Err
	}
	if f.failed++; f.failed >= tries {
		return fmt.Errorf("%w: %s, %d times in a row behind byte %d (%w); run this again, or download the file first", ErrCut, f.shown, f.failed, f.at, why)
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

// try makes a connection; again says that an error may pass.
func (f *File) try() (again bool, err error) {
	if f.at > 0 && f.etag == "" && f.modified == "" {
		return false, fmt.Errorf("%w: %s, behind byte %d, and the server gives neither ETag nor Last-Modified, so the rest may be of another file; download it first", ErrCut, f.shown, f.at)
	}
	ctx, hang := context.WithCancel(f.ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.address, nil)
	if err != nil {
		hang()
		return false, fmt.Errorf("%w: %s", ErrAddress, f.shown)
	}
	req.Header.Set("Accept-Encoding", "identity")
	if f.at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", f.at))
	}
	reply, err := f.client.Do(req)
	if err != nil {
		hang()
		return true, err
	}
	f.body, f.hang = reply.Body, hang
	if again, err = f.accept(reply); err != nil {
		f.drop()
	}
	return again, err
}

// accept looks at the head of a reply.
func (f *File) accept(reply *http.Response) (again bool, err error) {
	from := int64(0)
	size := reply.ContentLength
	switch code := reply.StatusCode; {
	case code == http.StatusOK:
	case code == http.StatusPartialContent && f.at > 0:
		var to int64
		if n, err := fmt.Sscanf(reply.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size); n < 3 || err != nil || from != f.at {
			return false, fmt.Errorf("%w: %s: asked for what is behind byte %d it sends %q", ErrRefused, f.shown, f.at, reply.Header.Get("Content-Range"))
		}
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return true, fmt.Errorf("%w: it says %s", ErrRefused, reply.Status)
	case code == http.StatusRequestedRangeNotSatisfiable && f.at > 0:
		return false, f.changed("it is shorter than before")
	default:
		return false, fmt.Errorf("%w: %s: it says %s", ErrRefused, f.shown, reply.Status)
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
	case size != f.size:
		return false, f.changed(fmt.Sprintf("it had %d bytes, and then %d", f.size, size))
	}
	if from == f.at {
		return false, nil
	}
	// The server knows no ranges: what was read is read again.
	if _, err := io.CopyN(io.Discard, reply.Body, f.at); err != nil {
		return true, err
	}
	return false, nil
}

func (f *File) changed(how string) error {
	return fmt.Errorf("%w: %s, at byte %d: %s; run this again when nothing changes it", ErrChanged, f.shown, f.at, how)
}
