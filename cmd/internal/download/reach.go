package download

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// ErrPrivate is wrapped by the error for an address that is not on the public internet.
var ErrPrivate = errors.New("only public addresses are fetched from, unless --download-private is given")

// special are the ranges of addresses that lead to no public server, or may lead back into a private network, besides those that package
// netip knows (RFC 6890 and IANA's registries of special-purpose addresses).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),       // this network
	netip.MustParsePrefix("100.64.0.0/10"),   // shared between a provider and its customers; clouds have services there
	netip.MustParsePrefix("192.0.0.0/24"),    // of protocols
	netip.MustParsePrefix("192.0.2.0/24"),    // documentation, like the next two
	netip.MustParsePrefix("198.51.100.0/24"), //
	netip.MustParsePrefix("203.0.113.0/24"),  //
	netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),     // reserved, and broadcast
	netip.MustParsePrefix("::/96"),           // formerly IPv4
	netip.MustParsePrefix("64:ff9b::/96"),    // IPv4 behind a translator, like the next
	netip.MustParsePrefix("64:ff9b:1::/48"),  //
	netip.MustParsePrefix("100::/64"),        // discarded
	netip.MustParsePrefix("2001::/23"),       // of protocols, with tunnels to IPv4
	netip.MustParsePrefix("2001:db8::/32"),   // documentation
	netip.MustParsePrefix("2002::/16"),       // a tunnel to IPv4
	netip.MustParsePrefix("fec0::/10"),       // formerly private
}

// public reports whether an address is one of the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// reach decides where one download may connect to. The address that is dialled is checked, and not the name: a name may mean a private
// address, and may mean another one at each look-up.
type reach struct {
	proxyOf func(*http.Request) (*url.URL, error)
	proxied bool // the next connection is to the user's own proxy
}

// proxy returns the proxy that the user has set for a request. A proxy looks names up itself, so of what it is asked for only plain
// addresses can be checked here.
func (r *reach) proxy(q *http.Request) (*url.URL, error) {
	p, err := r.proxyOf(q)
	r.proxied = p != nil
	if a, bad := netip.ParseAddr(q.URL.Hostname()); err == nil && r.proxied && bad == nil && !public(a) {
		return nil, refuse(a)
	}
	return p, err
}

func (r *reach) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 10 * time.Second}
	if !r.proxied {
		d.Control = check
	}
	return d.DialContext(ctx, network, address)
}

// check refuses an address that is about to be dialled.
func check(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q", ErrPrivate, address)
	}
	if !public(a.Addr()) {
		return refuse(a.Addr())
	}
	return nil
}

func refuse(a netip.Addr) error { return fmt.Errorf("%w: %s is not one", ErrPrivate, a) }
