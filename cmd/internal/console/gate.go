package console

import (
	"crypto/sha256"
	"net/http"
	"time"

	"posta.dev/posta/security"
)

// User is a person who has logged in.
type User struct {
	Name string               `json:"name,omitempty"` // "" for the user of this machine
	Role security.Role        `json:"role"`           // Watch or Operate
	Key  security.Fingerprint `json:"key,omitempty"`  // the key with which the login was signed; "" without keys
}

// admission is a login that is valid.
type admission struct {
	User
	ends   time.Time
	others int // further browsers that are logged in here; not known to a console that a medic serves
}

// operates reports whether the user may inject faults.
func (u User) operates() bool { return u.Role == security.Operate }

// gate decides who sees the pages. logins is the gate of `posta console`; passes is the gate of the consoles that medics serve.
type gate interface {
	// exchange returns the cookie for the token of a link, which works once.
	exchange(token string, now time.Time) (cookie string, ok bool)
	// known returns the login to which a cookie was given.
	known(cookie string, now time.Time) (admission, bool)
	// end makes a cookie invalid.
	end(cookie string, now time.Time)
	// endAll makes a cookie invalid, and those of all other browsers that logged in at the same `posta console`.
	endAll(cookie string, now time.Time)
}

var (
	_ gate = (*logins)(nil)
	_ gate = (*passes)(nil)
)

// digestOf returns the digest of a secret. The console keeps digests only.
func digestOf(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// known serves browsers that are logged in. All other browsers see the login page, whatever page they request.
func (s *Server) known(do func(http.ResponseWriter, *http.Request, User)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if user, in := s.user(r); in {
			do(w, r, user.User)
			return
		}
		s.showLogin(w, http.StatusUnauthorized, "")
	}
}

// user returns the user who sends a request.
func (s *Server) user(r *http.Request) (admission, bool) {
	for _, c := range r.CookiesNamed(s.cookie) {
		if user, in := s.gate.known(c.Value, time.Now()); in {
			return user, true
		}
	}
	return admission{}, false
}

// plain turns a handler that does not need the user into one that gets it.
func plain(do http.HandlerFunc) func(http.ResponseWriter, *http.Request, User) {
	return func(w http.ResponseWriter, r *http.Request, _ User) { do(w, r) }
}
