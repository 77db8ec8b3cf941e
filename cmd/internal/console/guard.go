package console

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// policy lets a page load only what this server serves. It allows no script or style within a page, and no frame around it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests before they are handled. A request has to name this server: a stranger's page whose name leads to this machine
// (DNS rebinding) sends its own name. A request that changes something has to come from a page of this console. A request from a page of
// another site, or of another port of this machine, is refused even with a cookie.
//
// peers are ports of this machine on which other medics serve consoles. If its own medic is gone, a page looks whether one of those
// consoles answers, and goes to it.
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
		if origin := r.Header.Get("Origin"); slices.Contains(peerOrigins(r.Host, peers), origin) {
			h.Set("Access-Control-Allow-Origin", origin) // fromPeer decides which answers the page may read
		}
		if !fromHere(r) && !fromPeer(r, peers) {
			http.Error(w, "this request comes from another page: type the address that posta console printed into the browser", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere relies on the headers in which browsers say which page a request comes from; pages cannot change those headers. With our own
// Referrer-Policy a form has the origin "null", and then Sec-Fetch-Site decides. Programs that are not browsers send neither header; they
// may only read, with a cookie.
func fromHere(r *http.Request) bool {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	ours := strings.EqualFold(origin, "http://"+r.Host)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case r.Method == http.MethodPost && r.URL.Path == provePath:
		// posta console --login, which is not a browser, sends this; the text that it sends must be signed
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

// peerOrigins returns the origins of the consoles of other medics, at the host by which the browser calls this one.
func peerOrigins(host string, peers []int) (all []string) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return nil
	}
	for _, port := range peers {
		all = append(all, "http://"+net.JoinHostPort(name, strconv.Itoa(port)))
	}
	return all
}

// policyWith returns a policy that also lets pages continue at the consoles of other medics.
func policyWith(host string, peers []int) string {
	var also strings.Builder
	for _, origin := range peerOrigins(host, peers) {
		also.WriteString(" " + origin + challengePath + " " + origin + continuePath)
	}
	return strings.Replace(policy, "connect-src 'self'", "connect-src 'self'"+also.String(), 1)
}

// fromPeer accepts the requests of a page of another console of this machine that continues here: it takes a challenge, proves with it what
// it may see, and goes to the login. Another server of this machine could make the same requests. It would learn only that this console is
// there: it can prove nothing, and no page can show a console in a frame.
func fromPeer(r *http.Request, peers []int) bool {
	h := r.Header
	switch origin := h.Get("Origin"); {
	case len(peers) == 0 || h.Get("Sec-Fetch-Site") != "same-site":
		return false
	case r.URL.Path == challengePath, r.URL.Path == continuePath:
		return slices.Contains(peerOrigins(r.Host, peers), origin)
	default:
		return origin == "" && r.Method == http.MethodGet && h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document"
	}
}
