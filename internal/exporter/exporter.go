// Package exporter serves a process's metrics to Prometheus, and its health to health checks.
//
//	/metrics  all metrics of the collector
//	/healthz  200 while the process makes progress; otherwise 503 and the reason
//	/readyz   200 while it accepts work; otherwise 503 and the reason
//
// It must not disturb the work of the process: if its address is taken, it tries again, and it accepts only a few connections.
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

	"posta.dev/posta/internal/visitors"
)

// Config is what an exporter serves.
type Config struct {
	Address string       // IP:PORT
	Collect func(*Page)  // adds metrics to those that every process has
	Healthy func() error // nil if the process makes progress; otherwise the reason
	Ready   func() error // nil if it accepts work; otherwise the reason
	Log     *slog.Logger
}

// Limits of what a stranger or a slow reader can use.
const (
	maxConnections = 32
	maxScrapes     = 4
	maxHeader      = 8 << 10
	readTimeout    = 5 * time.Second
	writeTimeout   = 10 * time.Second
	idleTimeout    = 2 * time.Minute // longer than the usual time between two scrapes
	listenAgain    = time.Second     // between two attempts to listen on the address
)

// Exporter serves metrics until it is closed.
type Exporter struct {
	cfg     Config
	server  *http.Server
	life    context.Context
	end     context.CancelFunc
	stopped chan struct{}
}

// Start starts to serve as soon as the address is free. The process before may still have it.
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
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), // cut-off requests are not worth a log line
	}}
	e.life, e.end = context.WithCancel(context.Background())
	go e.run()
	return e, nil
}

// Close stops the exporter and waits for its goroutines. A nil Exporter counts as closed.
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
	go func() { served <- visitors.Serve(e.server, l, maxConnections) }()
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
			return l
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

// Metrics serves the metrics, which it collects for each request, a few requests at a time.
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
		_, _ = w.Write(p.Append(nil)) // a client that has left needs no reply
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

// named refuses requests that name this machine by a host name. Otherwise a page in a local browser whose name resolves to this machine
// (DNS rebinding) could read metrics that are only for this machine.
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

// ErrNotYet is what Ready returns before a process has begun.
var ErrNotYet = errors.New("it has not begun yet")
