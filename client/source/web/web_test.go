package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func content() []byte {
	var b bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&b, "%d,row\n", i)
	}
	return b.Bytes()
}

// serve starts a server that answers one request after the other with handlers; the last handler answers all further requests.
func serve(t *testing.T, handlers ...http.HandlerFunc) string {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers[min(int(n.Add(1)), len(handlers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/d/trips.csv?secret=1"
}

func read(address string) ([]byte, error) {
	f, err := open(context.Background(), address, As{}, time.Millisecond, nil)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// whole serves the file with an ETag, also by ranges.
func whole(etag string, text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		http.ServeContent(w, r, "trips.csv", time.Time{}, bytes.NewReader(text))
	}
}

// cut serves what another handler serves, up to a number of bytes, and then cuts the connection.
func cut(after int, by http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		by(&cutter{w, after}, r)
		panic(http.ErrAbortHandler)
	}
}

type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	c.left -= n
	if err == nil && n < len(p) {
		c.ResponseWriter.(http.Flusher).Flush()
		err = errors.New("cut")
	}
	return n, err
}

// noRanges serves the whole file, whatever range is requested.
func noRanges(by http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		by(w, r)
	}
}

func says(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestC1_CutConnectionsGoOnWhereTheyWere(t *testing.T) {
	text := content()
	w := whole(`"one"`, text)
	for name, handlers := range map[string][]http.HandlerFunc{
		"whole":             {w},
		"cut twice":         {cut(1, w), cut(100_000, w), w},
		"cut in the head":   {cut(0, w), w},
		"busy":              {says(503), says(429), cut(1000, w), says(500), w},
		"no ranges":         {noRanges(cut(70_000, w)), noRanges(cut(60_000, w)), noRanges(w)},
		"many cuts":         {cut(1, w), cut(1, w), cut(1, w), cut(1, w), cut(1, w), cut(1, w), cut(1, w), cut(1, w), w},
		"an unknown length": {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); _, _ = w.Write(text) }},
	} {
		if got, err := read(serve(t, handlers...)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
	}
}

func TestC1_WhatIsNotOneFileIsAnError(t *testing.T) {
	text := content()
	w := whole(`"one"`, text)
	other := bytes.ToUpper(text)
	for name, c := range map[string]struct {
		want     error
		says     string
		handlers []http.HandlerFunc
	}{
		"changed":           {ErrChanged, `its ETag was "one" and is "two"`, []http.HandlerFunc{cut(1000, w), whole(`"two"`, other)}},
		"changed, no range": {ErrChanged, "ETag", []http.HandlerFunc{cut(1000, w), noRanges(whole(`"two"`, other))}},
		"longer":            {ErrChanged, "bytes, and then", []http.HandlerFunc{cut(1000, w), whole(`"one"`, append(text, 'x'))}},
		"shorter":           {ErrChanged, "shorter", []http.HandlerFunc{cut(1000, w), whole(`"one"`, text[:500])}},
		"no validator":      {ErrCut, "neither ETag nor Last-Modified", []http.HandlerFunc{cut(1000, whole("", text)), whole("", text)}},
		"gone":              {ErrRefused, "404", []http.HandlerFunc{says(404)}},
		"gone later":        {ErrRefused, "403", []http.HandlerFunc{cut(1000, w), says(403)}},
		"never":             {ErrCut, "EOF), 6 times in a row", []http.HandlerFunc{cut(0, w)}},
		"never again":       {ErrRefused, "6 times in a row behind byte 1000", []http.HandlerFunc{cut(1000, w), says(503)}},
	} {
		_, err := read(serve(t, c.handlers...))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v names the query", name, err)
		}
	}
	for _, address := range []string{"http://", "https://%zz/"} {
		if _, err := Open(t.Context(), address, As{}); !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if got := Shown("https://user:word@host:1/a/b.csv?key=1#x"); got != "https://host:1/a/b.csv" {
		t.Error(got)
	}
}

// TestCloseEndsARead: Close ends a Read that waits for a silent server.
func TestCloseEndsARead(t *testing.T) {
	silent := make(chan struct{})
	defer close(silent)
	f, err := Open(t.Context(), serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	}), As{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := f.Read(make([]byte, 10))
		ended <- err
	}()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(time.Minute):
		t.Fatal("a Read outlives Close")
	}
}
