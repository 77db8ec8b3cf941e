package monitor

import (
	"crypto/tls"
	"maps"
	"slices"
	"sync"
	"time"

	"posta.dev/posta/security"
)

// expiries is the TLS of a listener. For each process that has proven its name, it remembers when the process's certificate ends.
type expiries struct {
	*security.Socket
	keys *security.Keys

	mu   sync.Mutex
	ends map[string]time.Time // by name, like node/joiner-1; guarded by mu
}

// Peer implements zmqx.TLS.
func (e *expiries) Peer(state tls.ConnectionState) (string, error) {
	name, err := e.Socket.Peer(state)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ends[name] = e.keys.Ends(state.PeerCertificates[0])
	}
	return name, err
}

// Ends returns when the certificate of a connected process ends; false if it has none, or is not connected.
func (l *Listener[V]) Ends(id security.Identity) (end time.Time, known bool) {
	if l.expiries == nil {
		return end, false
	}
	l.expiries.mu.Lock()
	defer l.expiries.mu.Unlock()
	end, known = l.expiries.ends[id.String()]
	return end, known
}

// Expiring returns the names, sorted, of the connected processes whose certificates end within security.ExpiryWarning, and when the first
// one ends.
func (l *Listener[V]) Expiring(now time.Time) (names []string, first time.Time) {
	if l.expiries == nil {
		return nil, first
	}
	l.expiries.mu.Lock()
	defer l.expiries.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.expiries.ends)) {
		end := l.expiries.ends[name]
		if end.Sub(now) >= security.ExpiryWarning {
			continue
		}
		if names = append(names, name); first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return names, first
}
