package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"time"

	"posta.dev/posta/security"
)

const (
	loginLasts = 12 * time.Hour
	maxLogins  = 16 // logged-in browsers; a further login logs out the oldest one
)

// logins decides who may see the pages. The token of a link is exchanged once for a cookie; then a new link is made. Only digests are kept.
// Each check compares all of them, so the time of an answer reveals nothing about them.
type logins struct {
	announce func(token string)

	mu      sync.Mutex
	link    [sha256.Size]byte // digest of the only token that can be exchanged
	cookies []cookie          // oldest first
}

type cookie struct {
	digest [sha256.Size]byte
	ends   time.Time
}

// newLogins makes the first token. Each token is announced once.
func newLogins(announce func(token string)) *logins {
	l := &logins{announce: announce}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewLocked()
	return l
}

// secret returns 256 random bits of the system. rand.Read never fails: it ends the process instead.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (l *logins) renewLocked() {
	token := secret()
	l.link = digestOf(token)
	l.announce(token)
}

// exchange returns the cookie for a token, and false for a token that is wrong or was used before.
func (l *logins) exchange(token string, now time.Time) (string, bool) {
	digest := digestOf(token)
	l.mu.Lock()
	defer l.mu.Unlock()
	if subtle.ConstantTimeCompare(digest[:], l.link[:]) != 1 {
		return "", false
	}
	value := secret()
	if len(l.cookies) == maxLogins {
		l.cookies = append(l.cookies[:0], l.cookies[1:]...)
	}
	l.cookies = append(l.cookies, cookie{digestOf(value), now.Add(loginLasts)})
	l.renewLocked()
	return value, true
}

// known reports whether a cookie was given out and is still valid. Its user may do whatever the console may do, which Config decides.
func (l *logins) known(value string, now time.Time) (admission, bool) {
	digest := digestOf(value)
	l.mu.Lock()
	defer l.mu.Unlock()
	found, in := 0, admission{User: User{Role: security.Operate}, others: -1}
	for _, c := range l.cookies {
		same := subtle.ConstantTimeCompare(digest[:], c.digest[:])
		if now.Before(c.ends) {
			found |= same
			in.others++
		}
		if same == 1 {
			in.ends = c.ends
		}
	}
	return in, found == 1
}

// end makes a cookie invalid.
func (l *logins) end(value string, _ time.Time) {
	digest := digestOf(value)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.cookies {
		if l.cookies[i].digest == digest {
			l.cookies = append(l.cookies[:i], l.cookies[i+1:]...)
			return
		}
	}
}

func (l *logins) endAll(string, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cookies = nil
}
