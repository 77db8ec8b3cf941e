package console

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// policy lets a page load only what this server serves. It allows no script or style within a page, and no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests before they are handled. A request has to name this server: a stranger's page whose name leads to this machine (DNS
// rebinding) sends its own name. A request that changes something has to come from a page of this console. A request from a page of another site, or
// of another port of this machine, is refused even with a cookie.
//
// peers are ports of this machine on which other medics serve consoles. If its own medic is gone, a page looks whether one of those consoles answers, and
// goes to it.
func guard(hosts []string, peers []int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !slices.Contains(hosts, strings.ToLower(r.Host)) {
			http.Error(w, "this console has another address: use the one that posta console printed", http.StatusMisdirectedRequest)
			return
		}
		h.Set("Content-Security-Policy", policyWith(r.Host, peers))
		if len(peers) > 0 && r.URL.Path == healthPath {
			h.Set("Cross-Origin-Resource-Policy", "cross-origin") // a page of another console checks whether this console answers; Chromium does not treat IP addresses as "same-site"
		}
		if !fromHere(r) && !(len(peers) > 0 && fromPeer(r)) {
			http.Error(w, "this request comes from another page: type the address that posta console printed into the browser", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere relies on the headers in which browsers say which page a request comes from; pages cannot change those headers. With our own Referrer-Policy a
// form has the origin "null", and then Sec-Fetch-Site decides. Programs that are not browsers send neither header; they may only read, with a cookie.
func fromHere(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	ours := strings.EqualFold(origin, "http://"+r.Host)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case r.Method == http.MethodPost && r.URL.Path == provePath: // posta console --login, which is not a browser, sends this; the text that it sends must be signed
		return origin == "" && site == ""
	case origin == "null":
		return site == "same-origin"
	case origin != "" && !ours, origin == "" && !reads:
		return false
	case reads && r.URL.Path == "/login": // a link in a message leads here
		return true
	}
	return site == "" || site == "same-origin" || site == "none" && reads
}

const healthPath = "/healthz"

// policyWith returns a policy that also lets pages check whether the consoles of other medics answer, at the host by which the browser calls this console.
func policyWith(host string, peers []int) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil || len(peers) == 0 {
		return policy
	}
	var also strings.Builder
	for _, port := range peers {
		also.WriteString(" http://" + net.JoinHostPort(name, strconv.Itoa(port)) + healthPath)
	}
	return strings.Replace(policy, "connect-src 'self'", "connect-src 'self'"+also.String(), 1)
}

// fromPeer accepts the two requests that a page of another console of this machine makes: it checks /healthz, and it goes to a page, which changes nothing.
// Another server of this machine could make the same requests. It would learn only that this console is there: its pages cannot read the answers, and no
// page can show a console in a frame.
func fromPeer(r *http.Request) bool {
	h := r.Header
	if r.Method != http.MethodGet || h.Get("Origin") != "" || h.Get("Sec-Fetch-Site") != "same-site" {
		return false
	}
	return r.URL.Path == healthPath || h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document"
}

// limited is a listener that bounds the number of open connections. Further ones wait in the kernel's queue.
type limited struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
}

func limit(l net.Listener, most int) *limited {
	return &limited{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn
	leave func()
}

func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
