package cmd

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// TestConsoleShowsTheCluster: the console shows nodes and sessions, answers SQL, injects faults, and ends at Ctrl-C. Meanwhile its port is
// in use.
func TestConsoleShowsTheCluster(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir, outside := table(t, "trips.csv", "city,km\nOslo,5\nLima,2\nOslo,8\n"), table(t, "secret.csv", "word\nhush\n")
	for name, to := range map[string]string{"linked.csv": filepath.Join(outside, "secret.csv"), "far": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, interrupt := context.WithCancelCause(context.Background())
	var out, err await.Log
	ended := make(chan int, 1)
	go func() {
		args := []string{"posta", "console", "-f", k.file, "--listen", "127.0.0.1:0", "--data", dir}
		ended <- runWithin(ctx, context.Background(), program(), args, Console{In: strings.NewReader(""), Out: &out, Err: &err})
	}()
	defer func() {
		interrupt(exit.ErrInterrupted)
		if code := <-ended; code != exit.OK || strings.Contains(err.String(), "token") {
			t.Errorf("at Ctrl-C the console ends with %d, %s", code, err.String())
		}
	}()
	await.Until(t, "there is a link", func() bool { return strings.HasSuffix(out.String(), "\n") })
	link := strings.TrimSpace(out.String())
	jar, failed := cookiejar.New(nil)
	if failed != nil {
		t.Fatal(failed)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	browser := &http.Client{Jar: jar, Transport: transport, Timeout: 2 * time.Minute}
	read := func(answer *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	get := func(url string) string {
		t.Helper()
		return read(browser.Get(url))
	}
	base, _, _ := strings.Cut(link, "/login")
	// post presses a button of a page. It returns the page that follows, and the address of that page.
	post := func(path string, form url.Values) (page, at string) {
		t.Helper()
		r, err := http.NewRequest("POST", base+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", base)
		answer, err := browser.Do(r)
		page = read(answer, err)
		return page, answer.Request.URL.String()
	}
	first := get(link)
	for _, want := range []string{"of 7 nodes at work", "joiner-2", "medic-3"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first page lacks %q:\n%s", want, first)
		}
	}
	if r := k.call("console", "--listen", strings.TrimPrefix(base, "http://")); r.code != exit.Failed || !strings.Contains(r.err, "--listen") {
		t.Errorf("at a port that is taken: exit code %d, %s", r.code, r.err)
	}
	session := strings.TrimSpace(k.must("submit", "bikes", "--data", data(t, "1000"), "--detach").out)
	await.Until(t, "the session is there", func() bool { return strings.Contains(get(base+"/sessions"), session) })
	await.Until(t, "its answers are there", func() bool { return strings.Contains(get(base+"/session/"+session), `<table class="answer">`) })

	_, at := post("/ask", url.Values{"q": {"SELECT city, sum(km) AS km FROM trips GROUP BY ALL ORDER BY km DESC"}})
	await.Until(t, "the statement is answered", func() bool { return strings.Contains(get(at), "query_1: 2 rows") })
	if page := get(at); !strings.Contains(page, `<td class="n">13</td>`) || !strings.Contains(page, `<svg class="chart"`) {
		t.Errorf("the answer is\n%s", page)
	}
	_, at = post("/ask", url.Values{"q": {"SELECT kn FROM trips"}})
	await.Until(t, "the mistake is shown", func() bool { return strings.Contains(get(at), "<pre>SELECT kn FROM trips\n       ^</pre>") })
	_, at = post("/ask", url.Values{"q": {"SELECT sum(km) FROM trips"}, "explain": {"1"}})
	await.Until(t, "the plan is shown", func() bool { return strings.Contains(get(at), "<strong>table trips</strong>") })
	for _, from := range []string{"linked", "'linked.csv'", "'far/secret.csv'", "'far/*.csv'",
		"'../" + filepath.Base(outside) + "/secret.csv'", "'" + filepath.Join(outside, "secret.csv") + "'"} {
		_, at = post("/ask", url.Values{"q": {"SELECT * FROM " + from}})
		await.Until(t, from+" is refused", func() bool { return strings.Contains(get(at), `role="alert"`) || strings.Contains(get(at), "hush") })
		if page := get(at); strings.Contains(page, "hush") {
			t.Errorf("S8: a statement of the page reads %s, outside of --data", from)
		}
	}
	for typed, want := range map[string]string{"SELECT * FROM tr": `["trips"]`, "SELECT su": `"sum"`, "FROM trips SELECT ci": `["city"]`} {
		if words, _ := post("/complete", url.Values{"q": {typed}}); !strings.Contains(words, want) {
			t.Errorf("%s is completed to %s", typed, words)
		}
	}

	if page, _ := post("/break", url.Values{"fault": {"kill"}, "target": {"joiner-1"}}); !strings.Contains(page, "Broken from here") {
		t.Errorf("after the kill the page is\n%s", page)
	}
	await.Until(t, "its incident is there", func() bool { return strings.Contains(get(base), "flowing again, incarnation 2") })
	if page, _ := post("/break", url.Values{"fault": {"pause"}, "target": {"joiner-2"}}); strings.Contains(page, "it did not happen") {
		t.Errorf("after the pause the page is\n%s", page)
	}
	await.Until(t, "all nodes are there", func() bool { return strings.Contains(get(base), "7 of 7 nodes at work") })
}
