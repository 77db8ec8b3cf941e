package download

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"posta.dev/posta/client/source/web"
)

var (
	// ErrURL is wrapped by the errors of [Limits.Save] for a text that is not a URL, or whose scheme is not fetched.
	ErrURL = errors.New("not a URL of http or https")
	// ErrStatus is wrapped when the server does not send the file.
	ErrStatus = errors.New("the server says")
	// ErrTooLarge is wrapped when the file is larger than Limits.Bytes.
	ErrTooLarge = errors.New("file is too large")
)

// Limits bound what a stranger's server can cost.
type Limits struct {
	Time  time.Duration // for all of it; 0 is 10 s
	Bytes int64         // 0 is 32 MiB

	Private bool // addresses of this machine and of private networks are allowed
}

// Saved is a file that was written.
type Saved struct {
	Path  string
	Bytes int64
}

// maxURL is far more than servers accept, in bytes, and short enough to quote.
const maxURL = 8 << 10

// headBytes is how many bytes of a file http.DetectContentType looks at.
const headBytes = 512

// Save fetches a file into dir, which must exist. It replaces a file of the same name in dir.
func (l Limits) Save(ctx context.Context, from, dir, prefix string) (Saved, error) {
	if len(from) > maxURL {
		return Saved{}, fmt.Errorf("fetch %q…: %w: it has %d bytes", from[:40], ErrURL, len(from))
	}
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Saved{}, fmt.Errorf("fetch %q: %w", from, ErrURL)
	}
	limit := cmp.Or(l.Time, 10*time.Second)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %v", limit))
	defer cancel()
	s, err := l.save(ctx, u, dir, prefix)
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("fetch %q: %w", from, context.Cause(ctx)) // the cause says more than "context deadline exceeded"
	}
	return s, err
}

func (l Limits) save(ctx context.Context, u *url.URL, dir, prefix string) (s Saved, err error) {
	body, err := l.open(ctx, u)
	if err != nil {
		return s, err
	}
	defer func() { _ = body.Close() }() // read only: nothing is lost
	r := bufio.NewReaderSize(body, 32<<10)
	head, err := r.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return s, fmt.Errorf("fetch %q: %w", u, err)
	}
	s.Path = filepath.Join(dir, nameOf(prefix, u.Path, head))
	s.Bytes, err = replace(s.Path, r, cmp.Or(l.Bytes, 32<<20))
	if err != nil {
		return Saved{}, fmt.Errorf("fetch %q: %w", u, err)
	}
	return s, nil
}

// open requests the file. The connection serves only this request and is closed with it.
func (l Limits) open(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %q: %w", u, err)
	}
	q.Header.Set("User-Agent", "posta") // some servers refuse the library's own
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10}
	if !l.Private {
		r := &reach{proxyOf: http.ProxyFromEnvironment}
		t.Proxy, t.DialContext = r.proxy, r.dial
	}
	c := &http.Client{Transport: t, CheckRedirect: web.FollowRedirect}
	answer, err := c.Do(q)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err) // the error names the URL
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("fetch %q: %w: %q", u, ErrStatus, answer.Status)
	}
	return answer.Body, nil
}

// replace writes all of a file, or nothing.
func replace(name string, r io.Reader, limit int64) (n int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".posta-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if n, err = io.Copy(f, io.LimitReader(r, limit+1)); err == nil && n > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err == nil {
		err = f.Chmod(0o644) // temporary files are private, answers are not
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(f.Name(), name)
}
