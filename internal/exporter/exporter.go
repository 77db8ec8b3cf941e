// Package exporter serves what a process counts, for Prometheus and for whoever asks whether the process is well.
//
//	/metrics  everything that the collector has
//	/healthz  200 while the process gets on with its work
//	/readyz   200 while it takes work; otherwise 503 and why not
//
// It is never in the way of what the process is for: an address that is taken is tried again, and a stranger costs a few connections.
package exporter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Config is what an exporter serves.
type Config struct {
	Address string       // IP:PORT
	Collect func(*Page)  // adds the metrics, beside those that every process has
	Healthy func() error // nil: the process gets on with its work; otherwise why not
	Ready   func() error // nil: it takes work; otherwise why not
	Log     *slog.Logger
}

// Limits of what a stranger or a slow reader can cost.
const (
	maxConnections = 32
	maxScrapes     = 4
	maxHeader      = 8 << 10
	readTimeout    = 5 * time.Second
	writeTimeout   = 10 * time.Second
	idleTimeout    = 2 * time.Minute // longer than the usual time between two scrapes
	listenAgain    = time.Second     // between two attempts to get the address
)

// Exporter serves until it is closed.
type Exporter struct {
	cfg     Config
	server  *http.Server
	life    context.Context
	end     context.CancelFunc
	stopped chan struct{}
}

// Start begins to serve, as soon as the address is available. The process before may still have it.
func Start(c Config) (*Exporter, error) {
	at, err := netip.ParseAddrPort(c.Address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	handler := Handler(c)
	if at.Addr().IsLoopback() {
		handler = named(handler)
	}
	e := &Exporter{cfg: c, stopped: make(chan struct{}), server: &http.Server{
		Handler: handler, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), // a request that is cut off is not news
	}}
	e.life, e.end = context.WithCancel(context.Background())
	go e.run()
	return e, nil
}

// Close ends the exporter and awaits its goroutines. A nil Exporter is closed already.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	e.end()
	<-e.stopped
}

func (e *Exporter) run() {
	defer close(e.stopped)
	l := e.listen()
	if l == nil {
		return
	}
	served := make(chan error, 1)
	go func() { served <- e.server.Serve(l) }()
	select {
	case <-e.life.Done():
		_ = e.server.Close()
		<-served
	case err := <-served:
		e.cfg.Log.Warn("metrics are served no longer", "address", e.cfg.Address, "err", err)
		_ = e.server.Close()
	}
}

// listen returns nil if the exporter is closed before it has the address.
func (e *Exporter) listen() net.Listener {
	for warned := false; ; {
		l, err := new(net.ListenConfig).Listen(e.life, "tcp", e.cfg.Address)
		if err == nil {
			e.cfg.Log.Info("metrics", "address", l.Addr())
			return limit(l, maxConnections)
		}
		if !warned && e.life.Err() == nil {
			warned = true
			e.cfg.Log.Warn("metrics are not served before their address is available", "address", e.cfg.Address, "err", err)
		}
		select {
		case <-e.life.Done():
			return nil
		case <-time.After(listenAgain):
		}
	}
}

// Handler answers requests.
func Handler(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", Metrics(func(p *Page) {
		c.Collect(p)
		processMetrics(p)
	}))
	mux.HandleFunc("GET /healthz", state(c.Healthy))
	mux.HandleFunc("GET /readyz", state(c.Ready))
	return mux
}

// Metrics serves what is collected for each request, a few of them at a time.
func Metrics(collect func(*Page)) http.Handler {
	room := make(chan struct{}, maxScrapes)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		default:
			http.Error(w, "as many scrapes as are served at a time are under way", http.StatusServiceUnavailable)
			return
		}
		var p Page
		collect(&p)
		w.Header().Set("Content-Type", ContentType)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(p.Append(nil)) // who went away meanwhile needs nothing
	})
}

func state(of func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := of(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintln(w, err)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	}
}

// named refuses requests that call this machine by a name. A page in a browser here whose name leads to this machine (DNS rebinding) could otherwise
// read what is for this machine alone.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			http.Error(w, "metrics of this machine are asked for by its address: 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ErrNotYet is what Ready says before a process has begun.
var ErrNotYet = errors.New("it has not begun yet")
