package console

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
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
func login(t *testing.T, address string, trust Trust, proof Proof) *browser {
	t.Helper()
	link, err := Login(context.Background(), address, trust, proof)
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, address)
	if answer, text := b.get(strings.TrimPrefix(link, "http://"+address)); answer.StatusCode != 200 || answer.Request.URL.Path != "/" {
		t.Fatalf("the link leads to %s: %d\n%s", answer.Request.URL, answer.StatusCode, text)
	}
	return b
}

// cookieOf is the name of the cookie of the console at an address.
func cookieOf(address string) string {
	return "posta-console-" + address[strings.LastIndexByte(address, ':')+1:]
}

// replay has a program that got all cookies of a browser, as whoever has the port gets them, send them to a console under every name.
func (b *browser) replay(t *testing.T, address string) (codes []int) {
	for _, c := range b.http.Jar.Cookies(&url.URL{Scheme: "http", Host: b.address}) {
		for _, name := range []string{c.Name, cookieOf(address)} {
			answer, _ := newBrowser(t, address).get("/", "Cookie", name+"="+c.Value)
			codes = append(codes, answer.StatusCode)
		}
	}
	return codes
}

// TestS5_ACookieIsGoodAtOneProcess: browsers send a cookie to whoever has the port. What such a program gets opens neither the console of
// another medic nor one that runs at the same port later, even with the same secret.
func TestS5_ACookieIsGoodAtOneProcess(t *testing.T) {
	secret := []byte("only the user of the cluster can read this")
	trust := WithSecret(secret)
	s := cluster(t, 1, 0)
	first, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", trust, nil))
	second, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-2", trust, nil))
	b := login(t, first, trust, ProofBySecret(secret))
	if answer, _ := b.get("/"); answer.StatusCode != 200 {
		t.Fatalf("at its own console the cookie is good for %d", answer.StatusCode)
	}
	for _, code := range b.replay(t, second) {
		if code != http.StatusUnauthorized {
			t.Errorf("at another console the cookie is good for %d", code)
		}
	}
	now := time.Now()
	p, again := newPasses(trust), newPasses(trust) // the same console before and after a restart
	token, err := p.link(loginText(first, p.challenge(now)), []string{first}, User{Role: security.Operate}, now.Add(time.Hour), now)
	if err != nil {
		t.Fatal(err)
	}
	cookie, ok := p.exchange(token, now)
	if _, in := p.known(cookie, now); !ok || !in {
		t.Fatal("a cookie is not known where it was made")
	}
	if _, in := again.known(cookie, now); in {
		t.Error("a cookie is known after a restart")
	}
}

// opened is what a page's script does: it has a key, and continues at other consoles.
type opened struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	pass string
}

func newPage(t *testing.T, b *browser) *opened {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	answer, text := b.do("POST", handOverPath, base64.StdEncoding.EncodeToString(public), "Origin", "http://"+b.address)
	if answer.StatusCode != 200 {
		t.Fatalf("handing over: %d %s", answer.StatusCode, text)
	}
	return &opened{t, key, strings.TrimSpace(text)}
}

func (p *opened) sign(host, challenge string) continued {
	p.t.Helper()
	text := loginText(host, challenge)
	digest := sha256.Sum256(text)
	r, s, err := ecdsa.Sign(rand.Reader, p.key, digest[:])
	if err != nil {
		p.t.Fatal(err)
	}
	return continued{p.pass, string(text), append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)}
}

// TestS5_APageContinues: a page proves to another console which login it has, by what nobody else can use: not at another address, not
// again, not with another key, not after the login has ended.
func TestS5_APageContinues(t *testing.T) {
	ring := keytest.New(t, "posta")
	wanda := ring.Client(t, security.Identity{Role: security.Watch, Name: "wanda"})
	var medics []*security.Keys
	for _, name := range []string{"medic-1", "medic-2"} {
		id := security.Identity{Role: security.Medic, Name: name}
		ring.Make(t, id, time.Now())
		medics = append(medics, ring.Load(t, id))
	}
	s := cluster(t, 1, 0)
	first, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", WithKeys(medics[0]), nil))
	here := newPage(t, login(t, first, WithKeys(wanda), ProofByKey(wanda)))
	if answer, _ := newBrowser(t, first).do("POST", handOverPath, "x", "Origin",
		"http://"+first); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger hands over: %d", answer.StatusCode)
	}

	now, hosts := time.Now(), []string{"127.0.0.1:8081"}
	second, third := newPasses(WithKeys(medics[1])), newPasses(WithKeys(medics[0]))
	good := func() continued { return here.sign(hosts[0], second.challenge(now)) }
	with := func(change func(*continued)) continued { c := good(); change(&c); return c }
	other := newPage(t, login(t, first, WithKeys(wanda), ProofByKey(wanda)))
	cookie, err := WithKeys(medics[0]).Sign(loginPurpose, []byte(`{"role":"operate","ends":"2999-01-01T00:00:00Z"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]struct {
		continued
		at time.Time
	}{
		"at another address":   {here.sign("127.0.0.1:8082", second.challenge(now)), now},
		"of another console":   {here.sign(hosts[0], third.challenge(now)), now},
		"the challenge is old": {good(), now.Add(challengeLasts + time.Second)},
		"the login has ended": {here.sign(hosts[0], second.challenge(now.Add(loginLasts+time.Second))),
			now.Add(loginLasts + time.Second)},
		"the pass of another page":     {with(func(c *continued) { c.Pass = other.pass }), now},
		"no pass":                      {with(func(c *continued) { c.Pass = "" }), now},
		"a pass for something else":    {with(func(c *continued) { c.Pass = base64.RawURLEncoding.EncodeToString(cookie) }), now},
		"half a signature":             {with(func(c *continued) { c.Signature = c.Signature[:32] }), now},
		"a signature of another text":  {with(func(c *continued) { c.Text = hosts[0] + "\n" + second.challenge(now) }), now},
		"a signature of nothing, zero": {with(func(c *continued) { c.Signature = make([]byte, 64) }), now},
	} {
		if token, err := second.proceed(bad.continued, hosts, bad.at); err == nil {
			t.Errorf("%s: %s", name, token)
		}
	}
	once := good()
	token, err := second.proceed(once, hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.proceed(once, hosts, now); !errors.Is(err, errOldChallenge) {
		t.Errorf("it is good twice: %v", err)
	}
	value, _ := second.exchange(token, now)
	if u, in := second.known(value, now); !in || u.Name != "wanda" || u.operates() || u.ends.After(now.Add(loginLasts)) {
		t.Errorf("it continues as %+v, %v", u, in)
	}
	ring.Revoke(t, security.Identity{Role: security.Medic, Name: "medic-2"}, security.Identity{Role: security.Watch, Name: "wanda"})
	if err := medics[1].Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.proceed(good(), hosts, now); err == nil {
		t.Error("a revoked user continues")
	}
}

// TestS5_AStrangerAtTheConsolesPort: a user shows nothing to a program that has taken the port of a console, even if it passes on what a
// console says.
func TestS5_AStrangerAtTheConsolesPort(t *testing.T) {
	secret := []byte("only the user of the cluster can read this")
	s := cluster(t, 1, 0)
	real, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", WithSecret(secret), nil))
	for name, answer := range map[string]http.HandlerFunc{
		"a refusal":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"something else": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) },
		"a copy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(hereHeader, "eA==")
			_, _ = w.Write([]byte("1.2.3"))
		},
		"a relay": func(w http.ResponseWriter, r *http.Request) {
			got, err := http.Get("http://" + real + r.URL.String())
			if err != nil {
				return
			}
			defer func() { _ = got.Body.Close() }()
			w.Header().Set(hereHeader, got.Header.Get(hereHeader))
			_, _ = io.Copy(w, got.Body)
		},
	} {
		stranger := httptest.NewServer(answer)
		address := stranger.Listener.Addr().String()
		proof := func([]byte) ([]byte, error) { t.Errorf("%s is shown a proof", name); return nil, nil }
		if link, err := Login(context.Background(), address, WithSecret(secret), proof); !errors.Is(err, ErrStranger) ||
			errors.Is(err, ErrRefused) {
			t.Errorf("%s: %s, %v", name, link, err)
		}
		stranger.Close()
		if err := Check(context.Background(), address, WithSecret(secret)); err == nil || errors.Is(err, ErrStranger) {
			t.Errorf("nobody is there: %v", err)
		}
	}
	if err := Check(context.Background(), real, WithSecret(secret)); err != nil {
		t.Error(err)
	}
	if err := Check(context.Background(), real, WithSecret([]byte("another cluster's"))); !errors.Is(err, ErrStranger) {
		t.Errorf("the console of another cluster: %v", err)
	}
}

// TestS5_EveryRouteOfAMedicsConsole: a stranger sees the login and nothing else, with no cookie and with false ones. What is public has
// nothing of the cluster.
func TestS5_EveryRouteOfAMedicsConsole(t *testing.T) {
	secret := []byte("only the user of the cluster can read this")
	s := cluster(t, 2, 2)
	address, _, _ := serveAll(t, func() *Seen { return s }, byMedic("medic-1", WithSecret(secret), map[string]int{"medic-2": 1}),
		breaking(func(string, string) (string, error) {
			t.Error("a stranger breaks something")
			return "", nil
		}))
	server := &Server{cfg: Config{Topology: s.Topology}, passes: newPasses(WithSecret(secret))}
	server.gate = server.passes
	forged, _ := WithSecret([]byte("another secret")).Sign(cookiePurpose, []byte(`{"role":"operate","ends":"2999-01-01T00:00:00Z"}`))
	public := 0
	for _, route := range server.routes() {
		method, path, _ := strings.Cut(route.pattern, " ")
		path = strings.NewReplacer("{key}", "0", "{id}", s.Sessions[0].Session.String()).Replace(path)
		for name, cookie := range map[string]string{"none": "", "rubbish": "x", "forged": base64.RawURLEncoding.EncodeToString(forged)} {
			answer, text := newBrowser(t, address).do(method, path, "fault=kill&target=joiner-1&q=SELECT+1", "Cookie", cookieOf(address)+"="+cookie,
				"Origin", "http://"+address)
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
	if public != 8 {
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
		if link, err := Login(context.Background(), at, WithKeys(first), proof); !errors.Is(err, ErrRefused) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", name, link, err)
		}
	}
	if link, err := Login(context.Background(), at, WithKeys(first), ProofByKey(other)); err == nil {
		t.Errorf("a medic is let in as a user: %s", link)
	}
	for name, may := range map[string]bool{"olga": true, "wanda": false} {
		for i, address := range []string{at, beside} {
			b := login(t, address, WithKeys(users[name]), ProofByKey(users[name]))
			_, page := b.get("/")
			if strings.Contains(page, `action="/break"`) != may || !strings.Contains(page, "Log out "+name) ||
				!strings.Contains(page, "medic-"+strconv.Itoa(i+1)) {
				t.Errorf("the page of %s at console %d is\n%s", name, i+1, page)
			}
			answer, _ := b.do("POST", "/break", "fault=kill&target=joiner-1", "Origin", "http://"+b.address)
			if (answer.StatusCode == 200) != may || !may && answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s breaks a node at console %d: %d", name, i+1, answer.StatusCode)
			}
		}
	}
	s.Sessions[0].State = session.Done
	if _, page := login(t, at, WithKeys(first), ProofByKey(users["olga"])).get("/session/" +
		s.Sessions[0].Session.String()); !strings.Contains(page, "This console may not read them") {
		t.Errorf("the page of a session promises answers:\n%s", page)
	}
	if len(broken) != 2 {
		t.Errorf("%d faults were injected", len(broken))
	}

	// A user or a console signs a cookie, in the name of somebody who may do more.
	_, _, key, err := first.Verify(loginPurpose, proofOf(t, users["olga"]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(pass{User: User{Name: "olga", Role: security.Operate, Key: key}, ID: "1", Ends: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, signer := range []*security.Keys{users["wanda"], users["olga"], other, first} {
		forged, err := signer.Sign(cookiePurpose, text)
		if err != nil {
			t.Fatal(err)
		}
		if answer, _ := newBrowser(t, at).get("/", "Cookie",
			cookieOf(at)+"="+base64.RawURLEncoding.EncodeToString(forged)); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("a cookie that %s has signed: %d", signer.Identity(), answer.StatusCode)
		}
	}

	olga := login(t, at, WithKeys(first), ProofByKey(users["olga"]))
	if answer, _ := olga.do("POST", "/logout", "", "Origin", "http://"+at); answer.Request.URL.Path != "/login" {
		t.Errorf("logging out leads to %s", answer.Request.URL)
	}
	wanda := login(t, at, WithKeys(first), ProofByKey(users["wanda"]))
	ring.Revoke(t, medic, security.Identity{Role: security.Watch, Name: "wanda"})
	if err := first.Reload(); err != nil {
		t.Fatal(err)
	}
	if answer, _ := wanda.get("/"); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a revoked user: %d", answer.StatusCode)
	}
	if _, err := Login(context.Background(), at, WithKeys(first), ProofByKey(users["wanda"])); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "revoked") {
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

// TestS5_Passes: a challenge is good once, for a minute and at its own console. So is a link, and a cookie lasts until its end or the
// logout.
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
		"a cookie":            {secretTrust(key).sign(handOverPurpose, loginText(hosts[0], c)), now},
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
	if u, in := p.known(cookie, now.Add(loginLasts-time.Second)); !in || !u.operates() {
		t.Errorf("%v, %v", u, in)
	}
	for name, known := range map[string]struct {
		at     *passes
		cookie string
		when   time.Time
	}{
		"that has ended": {p, cookie, now.Add(loginLasts)}, "half of one": {p, cookie[:len(cookie)-2], now},
		"of another process": {other, cookie, now},
	} {
		if _, in := known.at.known(known.cookie, known.when); in {
			t.Errorf("a console knows a cookie %s", name)
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
	b, lonely := login(t, address, trust, ProofBySecret([]byte("secret"))), login(t, alone, trust, ProofBySecret([]byte("secret")))
	cors := func(port int) []string {
		return []string{"Origin", "http://127.0.0.1:" + strconv.Itoa(port), "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}
	}
	navigate := []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, c := range []struct {
		by      *browser
		method  string
		path    string
		headers []string
		want    int
	}{
		{b, "GET", "/node/joiner-1", navigate, 200},
		{b, "GET", challengePath, cors(8081), 200},
		{b, "GET", challengePath, cors(8083), 403},
		{b, "POST", continuePath, cors(8082), 400},
		{b, "POST", continuePath, cors(8083), 403},
		{b, "GET", "/", cors(8081), 403},
		{b, "POST", handOverPath, cors(8081), 403},
		{b, "GET", "/healthz", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 403},
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
	const want = "connect-src 'self' http://127.0.0.1:8081/login/challenge http://127.0.0.1:8081/login/continue http://127.0.0.1:8082/"
	if got := answer.Header.Get("Content-Security-Policy"); !strings.Contains(got, want) {
		t.Errorf("the policy is %s", got)
	}
	if answer, _ := b.do("GET", challengePath, "",
		cors(8082)...); answer.Header.Get("Access-Control-Allow-Origin") != "http://127.0.0.1:8082" {
		t.Error("the page of another console cannot read a challenge")
	}
}
