package download

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "100.63.255.255", "172.15.0.1", "172.32.0.1", "193.0.0.1", "223.255.255.255",
		"2606:4700::1111", "::ffff:8.8.8.8", "2a00::1", "2001:4860:4860::8888"} {
		if !public(netip.MustParseAddr(a)) {
			t.Errorf("%s is not public", a)
		}
	}
	for _, a := range []string{"127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "100.100.100.200", "192.0.0.170",
		"192.0.2.1", "198.19.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
		"fe80::1%eth0", "fd00::1", "fd00:ec2::254", "ff02::1",
		"64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "2001:db8::1", "fec0::1", "::127.0.0.1"} {
		if public(netip.MustParseAddr(a)) {
			t.Errorf("%s is public", a)
		}
	}
}

// TestAnAnswerLeadsToNoPrivateServer: by no name and no spelling of this machine's address, nor by a redirect.
func TestAnAnswerLeadsToNoPrivateServer(t *testing.T) {
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = io.WriteString(w, picture)
	}))
	defer s.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1.2.3",
		"169.254.169.254"} {
		dir := t.TempDir()
		// a machine may have no IPv6
		if _, err := (Limits{}).Save(t.Context(), "http://"+host+":"+port+"/x.png", dir, "q"); !errors.Is(err, ErrPrivate) && host != "[::1]" ||
			err == nil || files(t, dir) != "" {
			t.Errorf("%s: %v", host, err)
		}
	}
	if asked {
		t.Error("the server was asked")
	}
}

// TestAProxyIsNotAskedForPrivateAddresses: a proxy of the user's own is dialled wherever it is, and only for public addresses.
func TestAProxyIsNotAskedForPrivateAddresses(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, picture) }))
	defer s.Close()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := &reach{proxyOf: func(*http.Request) (*url.URL, error) { return at, nil }}
	for address, want := range map[string]error{"http://192.168.1.1/x": ErrPrivate, "http://[::1]/x": ErrPrivate, "http://8.8.8.8/x": nil,
		"http://example.org/x": nil} {
		if _, err := r.proxy(httptest.NewRequest(http.MethodGet, address, nil)); !errors.Is(err, want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	c, err := r.dial(t.Context(), "tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	r.proxied = false
	if _, err := r.dial(t.Context(), "tcp", at.Host); !errors.Is(err, ErrPrivate) {
		t.Error(err)
	}
}
