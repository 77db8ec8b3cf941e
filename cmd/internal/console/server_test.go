package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"
)

// browser is a client that keeps cookies and shows what it gets, redirections included.
type browser struct {
	t       *testing.T
	address string
	http    *http.Client
}

func newBrowser(t *testing.T, address string) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &browser{t, address, &http.Client{Jar: jar, Transport: transport, Timeout: 2 * time.Minute}}
}

func (b *browser) do(method, path, body string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequest(method, "http://"+b.address+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	answer, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer, string(text)
}

func (b *browser) get(path string, headers ...string) (*http.Response, string) {
	b.t.Helper()
	return b.do("GET", path, "", headers...)
}

// loggedIn returns a browser that has used a link.
func loggedIn(t *testing.T, address string, tokens <-chan string) *browser {
	t.Helper()
	b := newBrowser(t, address)
	if answer, text := b.get("/login?token=" + <-tokens); answer.StatusCode != 200 || answer.Request.URL.Path != "/" ||
		answer.Request.URL.RawQuery != "" || !strings.Contains(text, "joiner-1") {
		t.Fatalf("the link leads to %s: %d\n%s", answer.Request.URL, answer.StatusCode, text)
	}
	return b
}

// TestS1_AStrangerSeesTheLogin, and nothing of the cluster, on every page. A link lets in one browser, once.
func TestS1_AStrangerSeesTheLogin(t *testing.T) {
	s := cluster(t, 2, 2)
	address, tokens := serve(t, s)
	stranger := newBrowser(t, address)
	empty := newBrowser(t, address)
	for _, path := range []string{"/", "/sessions", "/node/joiner-1", "/node/nope", "/events?page=/", "/console.js", "/login", "/nope",
		"/style.css", "/icon.svg", "/healthz", "/login?token=", "/login?token=wrong"} {
		for name, cookie := range map[string]string{"none": "", "wrong": "posta-console-" + address[strings.LastIndex(address, ":")+1:] + "=" +
			secret(), "empty": "posta-console-1="} {
			answer, text := stranger.get(path, "Cookie", cookie)
			for _, word := range []string{"joiner", "bikes", "EventSource", "medic"} {
				if strings.Contains(text, word) {
					t.Errorf("%s, cookie %s: a stranger sees %q", path, name, word)
				}
			}
			public := path == "/style.css" || path == "/icon.svg" || path == "/healthz"
			if !public && !strings.Contains(text, "Log in") || public && answer.StatusCode != 200 {
				t.Errorf("%s: %d %s", path, answer.StatusCode, text)
			}
		}
	}
	token := <-tokens
	b := newBrowser(t, address)
	if answer, _ := b.get("/login?token=" + token); answer.StatusCode != 200 {
		t.Fatalf("the link: %d", answer.StatusCode)
	}
	if answer, text := empty.get("/login?token=" + token); answer.StatusCode != http.StatusForbidden ||
		!strings.Contains(text, "used already") {
		t.Errorf("the link works twice: %d", answer.StatusCode)
	}
	second := newBrowser(t, address)
	if answer, _ := second.do("POST", "/login", "token="+<-tokens, "Origin", "http://"+address); answer.StatusCode != 200 ||
		answer.Request.URL.Path != "/" {
		t.Errorf("the next token in the form: %d at %s", answer.StatusCode, answer.Request.URL)
	}
	for _, c := range second.http.Jar.Cookies(&url.URL{Scheme: "http", Host: address}) {
		if answer, _ := newBrowser(t, address).get("/", "Cookie", c.Name+"="+c.Value); answer.StatusCode != 200 {
			t.Errorf("the cookie does not let in: %d", answer.StatusCode)
		}
	}
	if answer, _ := b.do("POST", "/logout", "", "Origin", "http://"+address); answer.Request.URL.Path != "/login" {
		t.Errorf("logging out leads to %s", answer.Request.URL)
	}
	if answer, _ := b.get("/"); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("after logging out: %d", answer.StatusCode)
	}
}

// A cookie is out of reach for scripts and other sites, has an end, and is gone when too many came after it.
func TestCookies(t *testing.T) {
	address, tokens := serve(t, cluster(t, 1, 0))
	b := newBrowser(t, address)
	b.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, _ := b.get("/login?token=" + <-tokens)
	c := answer.Cookies()
	if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != "/" || len(c[0].Value) != 43 ||
		c[0].Domain != "" {
		t.Fatalf("the cookies %+v", c)
	}
	var token string
	now := time.Unix(1e9, 0)
	l := newLogins(func(next string) { token = next })
	var values []string
	for i := range maxLogins + 1 {
		value, ok := l.exchange(token, now)
		if !ok || value == token {
			t.Fatalf("exchange %d: %q, %v", i, value, ok)
		}
		values = append(values, value)
	}
	known := func(value string, now time.Time) bool {
		_, in := l.known(value, now)
		return in
	}
	for i, value := range values {
		if known(value, now) != (i > 0) || known(value, now.Add(loginLasts)) || known(value[:42], now) {
			t.Errorf("cookie %d of %d is known: %v; after %v: %v", i, len(values), known(value, now), loginLasts, known(value, now.Add(loginLasts)))
		}
	}
	if in, _ := l.known(values[3], now); !in.ends.Equal(now.Add(loginLasts)) || in.others != maxLogins-1 {
		t.Errorf("a login ends at %v, beside %d others", in.ends, in.others)
	}
	defer func() {
		if l.endAll(values[4], now); known(values[4], now) || known(values[5], now) || len(l.cookies) != 0 {
			t.Error("a login is left after the end of all")
		}
	}()
	l.end(values[3], now)
	if known(values[3], now) || !known(values[4], now) || len(l.cookies) != maxLogins-1 {
		t.Error("ending one cookie ends another one, or not itself")
	}
}

// TestRequestsFromElsewhereAreRefused even with a cookie: DNS rebinding, forms of other sites, pages of other ports.
func TestRequestsFromElsewhereAreRefused(t *testing.T) {
	address, tokens := serve(t, cluster(t, 1, 0))
	b := loggedIn(t, address, tokens)
	port := address[strings.LastIndex(address, ":"):]
	cookie := b.http.Jar.Cookies(&url.URL{Scheme: "http", Host: address})[0]
	b.http.Jar = nil // which gives it to no other name
	for _, c := range []struct {
		method, path string
		headers      []string
		want         int
	}{
		{"GET", "/", nil, 200},
		{"GET", "/", []string{"Host", "LOCALHOST" + port}, 200},
		{"GET", "/", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"GET", "/", []string{"Sec-Fetch-Site", "none"}, 200},
		{"GET", "/", []string{"Host", "evil.example" + port}, 421},
		{"GET", "/healthz", []string{"Host", "evil.example" + port}, 421},
		{"GET", "/", []string{"Host", "127.0.0.1"}, 421},
		{"GET", "/", []string{"Host", "127.0.0.1:1"}, 421},
		{"GET", "/", []string{"Host", "127.0.0.1" + port + ".evil.example"}, 421},
		{"GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", "/events?page=/", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"GET", "/", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"GET", "/login", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"POST", "/logout", nil, 403},
		{"POST", "/logout", []string{"Origin", "null"}, 403},
		{"POST", "/logout", []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/logout", []string{"Origin", "http://evil.example"}, 403},
		{"POST", "/logout", []string{"Origin", "http://evil.example", "Sec-Fetch-Site", "same-origin"}, 403},
		{"POST", "/logout", []string{"Origin", "http://" + address, "Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "/login", []string{"Origin", "https://" + address}, 403},
		{"POST", "/ask", nil, 403},
		{"POST", "/ask", []string{"Origin", "http://evil.example"}, 403},
		{"POST", "/complete", []string{"Origin", "http://" + address, "Sec-Fetch-Site", "same-site"}, 403},
		{"POST", "/break", nil, 403},
		{"POST", "/break", []string{"Origin", "null"}, 403},
		{"POST", "/break", []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, 403},
		{"POST", "/break", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"POST", "/break", []string{"Origin", "http://" + address, "Sec-Fetch-Site", "same-site"}, 403},
		{"GET", "/break?fault=kill&target=joiner-1", nil, 404},
		{"GET", "/ask?q=SELECT+1", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"GET", "/ask?q=SELECT+1", nil, 200},
		{"GET", "/asked/0", nil, 404},
		{"POST", "/asked/0/cancel", []string{"Origin", "http://" + address}, 404},
		{"POST", "/session/0/answers", []string{"Origin", "http://" + address}, 404},
		{"POST", "/", []string{"Origin", "http://" + address}, 405},
		{"PUT", "/node/joiner-1", []string{"Origin", "http://" + address}, 405},
		{"GET", "/node/joiner-9", nil, 404},
		{"GET", "/events?page=/nope", nil, 404},
		{"POST", "/logout", []string{"Origin", "null", "Sec-Fetch-Site", "same-origin"}, 200}, // the last one: it logs out
	} {
		answer, text := b.do(c.method, c.path, "", append(c.headers, "Cookie", cookie.String())...)
		if answer.StatusCode != c.want {
			t.Errorf("%s %s %.100q: %d, want %d\n%.200s", c.method, c.path, c.headers, answer.StatusCode, c.want, text)
		}
		for header, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"X-Frame-Options": "DENY",
		} {
			if got := answer.Header.Get(header); got != want {
				t.Errorf("%s %s: %s is %q", c.method, c.path, header, got)
			}
		}
	}
	if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Errorf("the policy is %s", policy)
	}
}

// TestR16_LargeHeaders: a request of a megabyte is refused before it is read to its end.
func TestR16_LargeHeaders(t *testing.T) {
	address, tokens := serve(t, cluster(t, 1, 0))
	for _, head := range []string{"GET / HTTP/1.1\r\nHost: " + address + "\r\nX: ", "GET /"} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		_, wrote := io.WriteString(c, head+strings.Repeat("x", 32<<20)+"\r\n\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		if wrote == nil || line != "" && !strings.Contains(line, " 431 ") {
			t.Errorf("%.10q: writing it ends with %v, the answer is %q", head, wrote, line)
		}
		_ = c.Close()
	}
	loggedIn(t, address, tokens)
}

// watch opens the events of a page.
func (b *browser) watch(ctx context.Context, page string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+b.address+"/events?page="+url.QueryEscape(page), nil)
	if err != nil {
		return nil, err
	}
	patient := *b.http
	patient.Timeout = 0
	return patient.Do(r)
}

// A page that is watched gets each part once, and then only what changes.
func TestEventsTellWhatChanges(t *testing.T) {
	s := cluster(t, 2, 1)
	address, tokens := serve(t, s)
	b := loggedIn(t, address, tokens)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	answer, err := b.watch(ctx, "/")
	if err != nil || answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%+v, %v", answer, err)
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		var parts []part
		if err := json.Unmarshal([]byte(data), &parts); err != nil || len(parts) != 8 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		return
	}
	t.Fatalf("the events end: %v", lines.Err())
}

// TestEventsOf is what is sent when nothing, something and all is different.
func TestEventsOf(t *testing.T) {
	sent := map[string]template.HTML{}
	all := []part{{"a", "1\n2"}, {"b", "<p>"}}
	first := event(all, sent)
	if strings.Count(first, "\n") != 3 || !strings.HasSuffix(first, "\n\n") || !strings.Contains(first, `1\n2`) {
		t.Errorf("%q", first)
	}
	if again := event(all, sent); again != "" {
		t.Errorf("what is not new is sent: %q", again)
	}
	if one := event([]part{{"a", "3"}, {"b", "<p>"}}, sent); strings.Contains(one, `"b"`) || !strings.Contains(one, `"3"`) {
		t.Errorf("%q", one)
	}
	if none := event(nil, sent); none != "" {
		t.Errorf("%q", none)
	}
}

// TestR16_ManyWatchers: of a thousand pages only a limited number are live, and the others are told to come back. Pages
// that do not read get only the newest parts. The console ends in time with all of them open.
func TestR16_ManyWatchers(t *testing.T) {
	address, tokens := serve(t, cluster(t, 8, 100))
	b := loggedIn(t, address, tokens)
	cookie := b.http.Jar.Cookies(&url.URL{Scheme: "http", Host: address})[0]
	request := fmt.Sprintf("GET /events?page=/ HTTP/1.1\r\nHost: %s\r\nCookie: %s=%s\r\n\r\n", address, cookie.Name, cookie.Value)
	live, told := 0, 0
	for range 1000 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if live == maxWatchers { // they have to come to an end, or there is no room for the next
			if err := c.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReaderSize(c, 64).ReadString('\n')
		switch {
		case err == nil && strings.Contains(line, " 200 "):
			live++
			defer func() { _ = c.Close() }() // it stays open, and reads nothing more
			continue
		case err == nil && strings.Contains(line, " 503 "):
			told++
		default:
			t.Fatalf("%q, %v", line, err)
		}
		_ = c.Close()
	}
	if live != maxWatchers || told != 1000-maxWatchers {
		t.Errorf("%d pages are live and %d are told to wait", live, told)
	}
	if answer, _ := b.get("/"); answer.StatusCode != 200 {
		t.Errorf("beside them a page is %d", answer.StatusCode)
	}
}

// TestR16_ASlowWatcherKeepsOnePage: whatever it misses, there is one set of parts for it.
func TestR16_ASlowWatcherKeepsOnePage(t *testing.T) {
	f := newFeed(nil, time.Hour)
	w, err := f.watch(place{kind: "overview"})
	if err != nil {
		t.Fatal(err)
	}
	s := cluster(t, 2, 0)
	for range 100 {
		f.draw(s, f.watched())
	}
	if parts := w.take(); len(parts) != 8 || len(w.ready) != 1 || w.take() != nil {
		t.Errorf("%d parts", len(parts))
	}
	f.leave(w)
	if len(f.watched()) != 0 {
		t.Error("it is still watched")
	}
	for range maxWatchers {
		if _, err := f.watch(place{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.watch(place{}); !errors.Is(err, errCrowded) {
		t.Errorf("one more: %v", err)
	}
}

// TestR16_HalfRequests: connections that say nothing do not keep the others out for good.
func TestR16_HalfRequests(t *testing.T) {
	address, tokens := serve(t, cluster(t, 1, 0))
	for range maxConnections + 8 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "GET / HT"); err != nil {
			t.Fatal(err)
		}
	}
	loggedIn(t, address, tokens)
}

func TestListenOnlyOnThisMachine(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8080", "localhost:8080": "127.0.0.1:8080", "[::1]:0": "[::1]:0", "127.8.9.1:1": "127.8.9.1:1",
	} {
		if got, err := Address(address); got != want || err != nil {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
	for _, address := range []string{"0.0.0.0:8080", ":8080", "[::]:0", "192.0.2.1:80", "[fe80::1]:1"} {
		if _, err := Listen(address, Config{}); !errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "8080", "127.0.0.1", "example.com:8080", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1",
		"127.0.0.1:"} {
		if _, err := Listen(address, Config{}); err == nil || errors.Is(err, ErrExposed) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

// TestLogOutEverywhere: a page says when its login ends. One browser ends the logins of all, and a stranger ends none.
func TestLogOutEverywhere(t *testing.T) {
	address, tokens := serve(t, cluster(t, 2, 0))
	first := loggedIn(t, address, tokens)
	if got := page(first, "/"); !strings.Contains(got, "logged in until") || strings.Contains(got, "Log out everywhere") {
		t.Errorf("the only browser sees\n%s", got)
	}
	second := loggedIn(t, address, tokens)
	stranger := newBrowser(t, address)
	origin := "http://" + address
	if r, _ := stranger.do("POST", "/logout", "all=1", "Origin", origin, "Content-Type",
		"application/x-www-form-urlencoded"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger logs out: %d", r.StatusCode)
	}
	if got := page(second, "/"); !strings.Contains(got, "Log out everywhere") {
		t.Errorf("the second browser sees\n%s", got)
	}
	second.do("POST", "/logout", "all=1", "Origin", origin, "Content-Type", "application/x-www-form-urlencoded")
	for _, b := range []*browser{first, second} {
		if r, _ := b.get("/"); r.StatusCode != http.StatusUnauthorized {
			t.Errorf("a browser is still logged in: %d", r.StatusCode)
		}
	}
}
