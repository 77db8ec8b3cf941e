package console

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/protocol/session"
	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
)

// byMedic makes a console one that a medic serves.
func byMedic(name string, trust Trust, peers map[string]int) func(*Config) {
	return func(c *Config) { c.Medic = &Medic{Name: name, Trust: trust, Peers: peers} }
}

// login opens the link of a user in a browser.
func login(t *testing.T, address string, proof Proof) *browser {
	t.Helper()
	link, err := Login(context.Background(), address, proof)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, address)
	if answer, text := b.get(strings.TrimPrefix(link, "http://"+address)); answer.StatusCode != 200 || answer.Request.URL.Path != "/" {
		t.Fatalf("the link leads to %s: %d\n%s", answer.Request.URL, answer.StatusCode, text)
	}
	return b
}

// lend gives a browser's cookies to another console of the machine, as a browser does, which does not tell ports apart.
func (b *browser) lend(t *testing.T, address string) *browser {
	other := newBrowser(t, address)
	other.http.Jar.SetCookies(&url.URL{Scheme: "http", Host: address}, b.http.Jar.Cookies(&url.URL{Scheme: "http", Host: b.address}))
	return other
}

// TestS5_EveryRouteOfAMedicsConsole: a stranger sees the login and nothing else, with no cookie and with false ones. What is public has nothing of the cluster.
func TestS5_EveryRouteOfAMedicsConsole(t *testing.T) {
	secret := []byte("only the user of the cluster can read this")
	s := cluster(t, 2, 2)
	address, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", WithSecret(secret), map[string]int{"medic-2": 1}), breaking(func(string, string) (string, error) {
		t.Error("a stranger breaks something")
		return "", nil
	}))
	server := &Server{cfg: Config{Topology: s.Topology}, passes: newPasses(WithSecret(secret))}
	server.gate = server.passes
	forged, _ := WithSecret([]byte("another secret")).Sign([]byte(`{"role":"operate","ends":"2999-01-01T00:00:00Z"}`))
	public := 0
	for _, route := range server.routes() {
		method, path, _ := strings.Cut(route.pattern, " ")
		path = strings.NewReplacer("{key}", "0", "{id}", s.Sessions[0].Session.String()).Replace(path)
		for name, cookie := range map[string]string{"none": "", "rubbish": "x", "forged": base64.RawURLEncoding.EncodeToString(forged)} {
			answer, text := newBrowser(t, address).do(method, path, "fault=kill&target=joiner-1&q=SELECT+1", "Cookie", "posta-console-of-posta="+cookie, "Origin", "http://"+address)
			for _, word := range []string{"joiner", "bikes", "medic-2", "EventSource", s.Sessions[0].Session.String()} {
				if strings.Contains(text, word) {
					t.Errorf("%s, cookie %s: a stranger sees %q", route.pattern, name, word)
				}
			}
			if !route.public && (answer.StatusCode != http.StatusUnauthorized || !strings.Contains(text, "posta console --login")) {
				t.Errorf("%s, cookie %s: %d %s", route.pattern, name, answer.StatusCode, text)
			}
		}
		if route.public {
			public++
		}
	}
	if public != 7 {
		t.Errorf("%d routes are public", public)
	}
}

// TestS5_RolesAtTheConsole: the key of a user decides what its browser may do, at the consoles of all medics, until it is revoked.
func TestS5_RolesAtTheConsole(t *testing.T) {
	ring, strangers := keytest.New(t, "posta"), keytest.New(t, "posta")
	users := map[string]*security.Keys{}
	for name, role := range map[string]security.Role{"olga": security.Operate, "wanda": security.Watch, "sam": security.Submit} {
		users[name] = ring.Client(t, security.Identity{Role: role, Name: name})
	}
	stranger := strangers.Client(t, security.Identity{Role: security.Operate, Name: "olga"})
	medic, second := security.Identity{Role: security.Medic, Name: "medic-1"}, security.Identity{Role: security.Medic, Name: "medic-2"}
	ring.Make(t, medic, time.Now())
	ring.Make(t, second, time.Now())
	first, other := ring.Load(t, medic), ring.Load(t, second)
	s := cluster(t, 2, 2)
	broken := make(chan string, 8)
	breaks := breaking(func(kind, target string) (string, error) { broken <- target; return "", nil })
	at, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", WithKeys(first), nil), breaks)
	beside, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-2", WithKeys(other), nil), breaks)

	for name, want := range map[string]string{"sam": "needs the role watch or operate", "a stranger": "not in [clients]"} {
		proof := ProofByKey(stranger)
		if name == "sam" {
			proof = ProofByKey(users["sam"])
		}
		if link, err := Login(context.Background(), at, proof); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", name, link, err)
		}
	}
	if link, err := Login(context.Background(), at, ProofByKey(other)); err == nil {
		t.Errorf("a medic is let in as a user: %s", link)
	}
	for name, may := range map[string]bool{"olga": true, "wanda": false} {
		here := login(t, at, ProofByKey(users[name]))
		for i, b := range []*browser{here, here.lend(t, beside)} {
			_, page := b.get("/")
			if strings.Contains(page, `action="/break"`) != may || !strings.Contains(page, "Log out "+name) || !strings.Contains(page, "medic-"+strconv.Itoa(i+1)) {
				t.Errorf("the page of %s at console %d is\n%s", name, i+1, page)
			}
			answer, _ := b.do("POST", "/break", "fault=kill&target=joiner-1", "Origin", "http://"+b.address)
			if (answer.StatusCode == 200) != may || !may && answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s breaks a node at console %d: %d", name, i+1, answer.StatusCode)
			}
		}
	}
	s.Sessions[0].State = session.Done
	if _, page := login(t, at, ProofByKey(users["olga"])).get("/session/" + s.Sessions[0].Session.String()); !strings.Contains(page, "This console may not read them") {
		t.Errorf("the page of a session promises answers:\n%s", page)
	}
	if len(broken) != 2 {
		t.Errorf("%d faults were injected", len(broken))
	}

	// A user signs a cookie as a console would, in the name of somebody who may do more.
	_, _, key, err := first.Verify(loginPurpose, proofOf(t, users["olga"]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(pass{User: User{Name: "olga", Role: security.Operate, Key: key}, ID: "1", Ends: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for signer, want := range map[*security.Keys]int{users["wanda"]: http.StatusUnauthorized, users["olga"]: http.StatusUnauthorized, other: 200} {
		forged, err := signer.Sign(passPurpose, text)
		if err != nil {
			t.Fatal(err)
		}
		if answer, _ := newBrowser(t, at).get("/", "Cookie", "posta-console-of-posta="+base64.RawURLEncoding.EncodeToString(forged)); answer.StatusCode != want {
			t.Errorf("a cookie that %s has signed: %d", signer.Identity(), answer.StatusCode)
		}
	}

	olga := login(t, at, ProofByKey(users["olga"]))
	if answer, _ := olga.do("POST", "/logout", "", "Origin", "http://"+at); answer.Request.URL.Path != "/login" {
		t.Errorf("logging out leads to %s", answer.Request.URL)
	}
	wanda := login(t, at, ProofByKey(users["wanda"]))
	ring.Revoke(t, medic, security.Identity{Role: security.Watch, Name: "wanda"})
	if err := first.Reload(); err != nil {
		t.Fatal(err)
	}
	if answer, _ := wanda.get("/"); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a revoked user: %d", answer.StatusCode)
	}
	if _, err := Login(context.Background(), at, ProofByKey(users["wanda"])); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a revoked user logs in: %v", err)
	}
}

// proofOf is something that a user has signed to log in.
func proofOf(t *testing.T, user *security.Keys) []byte {
	t.Helper()
	proof, err := ProofByKey(user)([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

// TestS5_Passes: a challenge is good once, for a minute and at its own console. So is a link, and a cookie lasts until its end or the logout.
func TestS5_Passes(t *testing.T) {
	key, hosts, now := []byte("secret"), []string{"127.0.0.1:8080"}, time.Unix(1e9, 0)
	p, other := newPasses(WithSecret(key)), newPasses(WithSecret(key))
	prove := func(host, challenge string) []byte {
		t.Helper()
		b, err := ProofBySecret(key)(loginText(host, challenge))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	c := p.challenge(now)
	for name, bad := range map[string]struct {
		statement []byte
		at        time.Time
	}{
		"at another address":  {prove("127.0.0.1:8081", c), now},
		"of another console":  {prove(hosts[0], other.challenge(now)), now},
		"too old":             {prove(hosts[0], c), now.Add(challengeLasts + time.Second)},
		"from the future":     {prove(hosts[0], c), now.Add(-time.Second)},
		"changed":             {prove(hosts[0], "1"+c), now},
		"no challenge":        {prove(hosts[0], ""), now},
		"another secret":      {secretTrust("other").sign(loginPurpose, loginText(hosts[0], c)), now},
		"a cookie":            {secretTrust(key).sign(passPurpose, loginText(hosts[0], c)), now},
		"half":                {prove(hosts[0], c)[:20], now},
		"nothing":             {nil, now},
		"with something more": {append(prove(hosts[0], c), 'x'), now},
	} {
		if token, err := p.prove(bad.statement, hosts, bad.at); err == nil {
			t.Errorf("%s: %s", name, token)
		}
	}
	token, err := p.prove(prove(hosts[0], c), hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.prove(prove(hosts[0], c), hosts, now); !errors.Is(err, errOldChallenge) {
		t.Errorf("a challenge is good twice: %s, %v", again, err)
	}
	cookie, ok := p.exchange(token, now)
	if !ok || len(cookie) > 3000 {
		t.Fatalf("a cookie of %d bytes, %v", len(cookie), ok)
	}
	if _, again := p.exchange(token, now); again {
		t.Error("a link is good twice")
	}
	late, err := p.prove(prove(hosts[0], p.challenge(now)), hosts, now)
	if _, good := p.exchange(late, now.Add(linkLasts+time.Second)); err != nil || good {
		t.Errorf("a link is good after its time: %v, %v", good, err)
	}
	for name, at := range map[string]*passes{"its own": p, "another": other} {
		if u, in := at.known(cookie, now.Add(loginLasts-time.Second)); !in || !u.operates() {
			t.Errorf("%s console: %v, %v", name, u, in)
		}
		if _, in := at.known(cookie, now.Add(loginLasts)); in {
			t.Errorf("%s console knows a cookie that has ended", name)
		}
		if _, in := at.known(cookie[:len(cookie)-2], now); in {
			t.Errorf("%s console knows half a cookie", name)
		}
	}
	p.end(cookie, now)
	if _, in := p.known(cookie, now); in {
		t.Error("a cookie is known after the logout")
	}
	for range 2*maxLinks + maxEnded {
		if token, err = p.prove(prove(hosts[0], p.challenge(now)), hosts, now); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.links) != maxLinks || len(p.used) != maxEnded {
		t.Errorf("%d links and %d challenges are kept", len(p.links), len(p.used))
	}
	if _, ok := p.exchange(token, now); !ok {
		t.Error("the newest link is not kept")
	}
}

// A page of another medic's console may look whether this one is there, and may go to it. It may do nothing else here.
func TestPagesGoOnWithAnotherMedic(t *testing.T) {
	trust := WithSecret([]byte("secret"))
	s := cluster(t, 1, 0)
	alone, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", trust, nil))
	address, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", trust, map[string]int{"medic-2": 8081, "medic-3": 8082}))
	b, lonely := login(t, address, ProofBySecret([]byte("secret"))), login(t, alone, ProofBySecret([]byte("secret")))
	navigate := []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, c := range []struct {
		by      *browser
		method  string
		path    string
		headers []string
		want    int
	}{
		{b, "GET", "/node/joiner-1", navigate, 200},
		{b, "GET", "/healthz", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 200},
		{b, "GET", "/node/joiner-1", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{b, "GET", "/node/joiner-1", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{b, "GET", "/node/joiner-1", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
		{b, "GET", "/events?page=/", append([]string{"Origin", "http://127.0.0.1:8081"}, navigate...), 403},
		{b, "POST", "/logout", append([]string{"Origin", "http://127.0.0.1:8081"}, navigate...), 403},
		{b, "POST", provePath, []string{"Origin", "http://" + address}, 403},
		{b, "POST", provePath, []string{"Sec-Fetch-Site", "same-origin"}, 403},
		{b, "GET", challengePath, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{b, "GET", "/healthz", append([]string{"Host", "evil.example"}, navigate...), 421},
		{lonely, "GET", "/node/joiner-1", navigate, 403},
		{lonely, "GET", "/healthz", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 403},
	} {
		if answer, _ := c.by.do(c.method, c.path, "", c.headers...); answer.StatusCode != c.want {
			t.Errorf("%s %s %q: %d, want %d", c.method, c.path, c.headers, answer.StatusCode, c.want)
		}
	}
	answer, page := b.get("/")
	if !strings.Contains(page, `data-medic="medic-1" data-peers="medic-2:8081 medic-3:8082 "`) {
		t.Errorf("the page does not know the others:\n%.900s", page)
	}
	if got := answer.Header.Get("Content-Security-Policy"); !strings.Contains(got, "connect-src 'self' http://127.0.0.1:8081/healthz http://127.0.0.1:8082/healthz;") {
		t.Errorf("the policy is %s", got)
	}
	if answer, _ := b.get("/healthz"); answer.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Error("the page of another console cannot see that this one is there")
	}
}
