package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// visitor is a browser of the machine, which gives its cookies to all ports.
func visitor(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	return &http.Client{Jar: jar, Transport: transport, Timeout: time.Minute}
}

// visit returns a page, "" if nobody answers.
func visit(t *testing.T, by *http.Client, address string) string {
	t.Helper()
	answer, err := by.Get(address)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

// Medics serve the console in processes of their own. One that dies comes back, the page goes on at another medic meanwhile, and nothing is
// left after posta down.
func TestMedicsServeTheConsole(t *testing.T) {
	k := newTestCluster(t)
	port := freePorts(t, 2)
	first, second := fmt.Sprintf("http://127.0.0.1:%d", port), fmt.Sprintf("http://127.0.0.1:%d", port+1)
	k.write(topology.Variant{Settings: map[string]string{"limits.drain": "4s", "medics.replicas": "2",
		"medics.console": strings.TrimPrefix(first, "http://")}})
	if r := k.must("up"); !strings.Contains(r.err, first) {
		t.Errorf("posta up does not say where the console is: %s", r.err)
	}
	await.Until(t, "both consoles are there", func() bool {
		return visit(t, visitor(t), first+"/healthz") == "ok\n" && visit(t, visitor(t), second+"/healthz") == "ok\n"
	})
	by := visitor(t)
	await.Until(t, "the first page shows the cluster", func() bool {
		return strings.Contains(visit(t, by, strings.TrimSpace(k.must("console", "--login").out)), "7 of 7 nodes at work")
	})
	if page := visit(t, by, second+"/node/joiner-1"); strings.Contains(page, "joiner-1") || !strings.Contains(page, "posta console --login") {
		t.Errorf("a cookie of one console opens another one:\n%s", page)
	}
	login := func(what string) {
		t.Helper()
		await.Until(t, what, func() bool {
			return strings.Contains(visit(t, by, strings.TrimSpace(k.call("console", "--login").out)), "Log out")
		})
	}
	secret := filepath.Join(k.dir, "cluster", "console", "secret")
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret is %v, %v", info, err)
	}
	was := k.pid("medic-1")
	post := func(at, target string) {
		t.Helper()
		answer, text := fill(t, by, at, "/break", url.Values{"fault": {"kill"}, "target": {target}})
		if answer.StatusCode != 200 || !strings.Contains(text, "Broken from here") {
			t.Errorf("killing %s: %d %s", target, answer.StatusCode, text)
		}
	}
	post(first, "medic-1") // which serves the page, and answers before it dies
	await.Until(t, "medic-1 is another process", func() bool { pid := k.pid("medic-1"); return pid != 0 && pid != was })
	login("its console is back")
	await.Until(t, "the browser is at medic-1", func() bool {
		login("a console is there")
		return strings.Contains(visit(t, by, first), "Log out")
	})
	k.kill("medic-2", syscall.SIGKILL)
	await.Until(t, "the page of the other one shows it", func() bool {
		return strings.Contains(visit(t, by, first),
			"flowing again, incarnation 2")
	})
	if r := k.call("console", "--listen", strings.TrimPrefix(first, "http://")); r.code != exit.Failed ||
		!strings.Contains(r.err, "posta console --login") {
		t.Errorf("at the port of the medic's: exit code %d, %s", r.code, r.err)
	}
	k.must("down")
	if text := visit(t, by, first+"/healthz") + visit(t, by, second+"/healthz"); text != "" {
		t.Errorf("after posta down something answers: %s", text)
	}
	if _, err := os.Stat(secret); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("posta down leaves the secret: %v", err)
	}

	taken, err := net.Listen("tcp", strings.TrimPrefix(first, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	stranger := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || len(r.Cookies()) > 0 {
			t.Errorf("the stranger gets %s %s with %d cookies", r.Method, r.URL.Path, len(r.Cookies()))
		}
		_, _ = io.WriteString(w, "0.challenge.x\n")
	})}
	go func() { _ = stranger.Serve(taken) }()
	defer func() { _ = stranger.Close() }()
	if r := k.must("up"); !strings.Contains(r.err, "another program answers at "+strings.TrimPrefix(first, "http://")) ||
		strings.Contains(r.err, "answers at "+strings.TrimPrefix(second, "http://")) {
		t.Errorf("posta up does not say that a stranger has the console's port: %s", r.err)
	}
	if r := k.must("console", "--login"); !strings.HasPrefix(r.out, second) {
		t.Errorf("the link leads to %s, %s", r.out, r.err)
	}
}

// fill sends a form to a console, as a browser does that shows the console's page.
func fill(t *testing.T, by *http.Client, at, path string, form url.Values) (answer *http.Response, text string) {
	t.Helper()
	r, err := http.NewRequest("POST", at+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", at)
	if answer, err = by.Do(r); err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	return answer, string(b)
}

// asks posts a statement to a console, and returns the page with the outcome.
func asks(t *testing.T, by *http.Client, at, statement string) (page string) {
	t.Helper()
	answer, _ := fill(t, by, at, "/ask", url.Values{"q": {statement}})
	if !strings.HasPrefix(answer.Request.URL.Path, "/asked/") {
		return answer.Status
	}
	await.Until(t, "there is an outcome of "+statement, func() bool {
		page = visit(t, by, answer.Request.URL.String())
		return strings.Contains(page, "answered in") || strings.Contains(page, "failed in") || strings.Contains(page, "not run</p>")
	})
	return page
}

// TestS8_AMedicsConsoleAnswersOverTheRoots, over all of them and nothing else. It lets no stranger ask.
func TestS8_AMedicsConsoleAnswersOverTheRoots(t *testing.T) {
	k := newTestCluster(t)
	files := t.TempDir()
	for name, text := range map[string]string{"a/cities.csv": "id,city\n1,Oslo\n2,Rome\n", "b/trips.csv": "city,km\n1,3\n2,4\n1,5\n",
		"secret.csv": "word\nopen sesame\n"} {
		name = filepath.Join(files, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.csv", filepath.Join(files, "a", "linked.csv")); err != nil {
		t.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1))
	at := "http://" + address
	k.write(topology.Variant{Settings: map[string]string{"limits.drain": "4s", "medics.replicas": "1", "medics.console": address},
		Roots: []string{filepath.Join(files, "a"), filepath.Join(files, "b"), filepath.Join(files, "gone")}})
	k.must("up")
	await.Until(t, "the console is there", func() bool { return visit(t, visitor(t), at+"/healthz") == "ok\n" })
	stranger := visitor(t)
	if page := visit(t, stranger, at+"/ask"); !strings.Contains(page, "Log in") || strings.Contains(page, "trips") {
		t.Errorf("a stranger sees %s", page)
	}
	if got := asks(t, stranger, at, "SELECT count(*) FROM trips"); got != "401 Unauthorized" {
		t.Errorf("a stranger asks: %s", got)
	}
	by := visitor(t)
	await.Until(t, "a browser is let in", func() bool {
		return strings.Contains(visit(t, by, strings.TrimSpace(k.must("console", "--login").out)), "Log out")
	})
	if page := visit(t, by, at+"/ask"); !strings.Contains(page, "Tables: <code>cities</code>, <code>trips</code>.") ||
		strings.Contains(page, "asked/") {
		t.Errorf("the page Ask is %s", page)
	}
	page := asks(t, by, at, "SELECT c.city, sum(km) FROM trips t JOIN cities c ON t.city = c.id GROUP BY c.city ORDER BY 1")
	for _, want := range []string{"<td>Oslo</td><td class=\"n\">8</td>", "<td>Rome</td><td class=\"n\">4</td>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the answer lacks %s: %s", want, page)
		}
	}
	for statement, want := range map[string]string{
		"SELECT * FROM 'linked.csv'":                           "a link leads out of",
		"SELECT * FROM '../secret.csv'":                        "is not a path below the data directory",
		"SELECT * FROM '" + files + "/secret.csv'":             "is not a path below the data directory",
		"SELECT * FROM 'secret.csv'":                           "This machine has no directory " + filepath.Join(files, "gone") + ".",
		"CREATE TABLE s FROM '-' (word TEXT); SELECT * FROM s": "cannot be a table",
	} {
		if page := asks(t, by, at, statement); !strings.Contains(page, want) || strings.Contains(page, "sesame") {
			t.Errorf("%s: the page lacks %q: %s", statement, want, page)
		}
	}
}

// TestS5_AMedicsConsoleAsksForAKey: in a cluster with keys a user logs in by its own, and its role decides. The medic's key lists the
// sessions.
func TestS5_AMedicsConsoleAsksForAKey(t *testing.T) {
	k := newKeyedCluster(t)
	text, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", freePorts(t, 1))
	with := strings.Replace(string(text), `console = ""`, `console = "`+at+`"`, 1)
	if err := os.WriteFile(k.file, []byte(with), 0o600); err != nil || with == string(text) {
		t.Fatalf("the topology takes no console: %v", err)
	}
	k.must("up")
	await.Until(t, "the console is there", func() bool { return visit(t, visitor(t), "http://"+at+"/healthz") == "ok\n" })
	by := visitor(t)
	await.Until(t, "alice sees the cluster", func() bool {
		return strings.Contains(visit(t, by, strings.TrimSpace(k.must("console", "--login", "--key", k.key("alice")).out)),
			"7 of 7 nodes at work")
	})
	if page := visit(t, by, "http://"+at+"/ask"); !strings.Contains(page, "the key of a medic may open no session") ||
		!strings.Contains(page, "posta console --key DIR --data DIR") || strings.Contains(page, "<textarea") {
		t.Errorf("the page Ask does not say why nobody can ask: %s", page)
	}
	for name, want := range map[string]string{"bob": "needs the role watch or operate", "mallory": "not in [clients]"} {
		if r := k.call("console", "--login", "--key", k.key(name)); r.code != exit.Failed || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: exit code %d, %s%s", name, r.code, r.out, r.err)
		}
	}
	k.must("submit", "bikes", "--key", k.key("bob"), "--data", data(t, "1000"), "--detach")
	await.Until(t, "bob's session is there", func() bool { return strings.Contains(visit(t, by, "http://"+at+"/sessions"), "<td>bob</td>") })
}
