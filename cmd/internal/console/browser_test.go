//go:build browser

package console

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/nodes/lastlog"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

var shots = flag.String("shots", "", "write a picture of each view into this directory")

// tab is a page in a real browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu    sync.Mutex
	wrong []string // what the browser complains of
}

func newTab(t *testing.T) *tab {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true))
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(options, chromedp.WSURLReadTimeout(2*time.Minute))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			b.wrong = append(b.wrong, e.Entry.Text)
		case *runtime.EventExceptionThrown:
			b.wrong = append(b.wrong, says(e.ExceptionDetails))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// says describes an exception in a script, which has a description if what was thrown is an Error.
func says(e *runtime.ExceptionDetails) string {
	text := fmt.Sprintf("%s in %s, line %d", e.Text, e.URL, e.LineNumber+1)
	if e.Exception != nil {
		text += ": " + e.Exception.Description
	}
	return text
}

// get returns what an action finds.
func get[V any](b *tab, action chromedp.Action[V]) V {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// evaluate returns the value of an expression in the page.
func evaluate[V any](b *tab, expression string) V {
	b.t.Helper()
	return get(b, chromedp.Evaluate[V](expression))
}

// until waits for an expression to be true in the page. While one page gives way to the next one there is nothing that could evaluate it:
// it is asked again.
func (b *tab) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		holds, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression))
		switch {
		case err == nil && holds:
			return
		case b.ctx.Err() != nil:
			b.t.Fatal(err)
		case time.Now().After(end):
			b.t.Fatalf("not within the time: %s (%v); the browser says %q, and shows\n%s", expression, err, b.wrong,
				evaluate[string](b, "location.href + document.body.innerText"))
		}
	}
}

// live waits until a page has loaded, and follows the cluster. What follows meets no page that is on its way.
func (b *tab) live() {
	b.t.Helper()
	b.until(
		`document.readyState === "complete" && document.getElementById("live") !== null && document.getElementById("live").textContent === "Live"`)
}

func (b *tab) shows(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.body !== null && document.body.innerText.includes(%q)", text))
}

func (b *tab) picture(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	png := get(b, chromedp.FullScreenshot(100))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// contented fails the test if the browser has complained: of a script that failed, or of something that the policy forbids.
func (b *tab) contented() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Errorf("the browser says: %s", w)
	}
}

// busyCluster has a node of each kind.
func busyCluster(t *testing.T) *Seen {
	s := cluster(t, 3, 6)
	s.named(t, "joiner-2").Age = 4 * time.Second
	input := s.named(t, "input-1")
	for i := range input.Beat.Links {
		input.Beat.Links[i].Full = input.Beat.Links[i].To == "joiner-3"
		input.Beat.Links[i].Bytes = uint64(i) * 6 << 20
	}
	s.named(t, "reducer-1").Beat.Trouble = "the disk is slow: look at it"
	s.named(t, "aggregator-2").Beat.State = heartbeat.Recovering
	s.Sessions[4].State, s.Sessions[5].State = session.Failed, session.Done
	return s
}

// Every view fits from 360 pixels to 4K, light and dark: the page itself is never wider than the window, and the browser complains of
// nothing.
func TestViews(t *testing.T) {
	s := busyCluster(t)
	address, tokens, _ := serveAll(t, func() *Seen { return s }, answering(t, nil),
		breaking(func(_, _ string) (string, error) { return "", nil }), logging(someLines))
	b := newTab(t)
	b.do(chromedp.Navigate("http://" + address + "/"))
	b.shows("Log in")
	b.picture("login")
	b.mu.Lock()
	b.wrong = nil // it says that the page is not for strangers
	b.mu.Unlock()
	b.do(chromedp.Navigate("http://" + address + "/login?token=" + <-tokens))
	b.shows("medic-2 leads in generation 5")
	for name, path := range map[string]string{
		"overview": "/", "sessions": "/sessions", "node": "/node/input-1", "log": "/node/joiner-1", "dead": "/node/joiner-2",
		"session": "/session/" + s.Sessions[0].Session.String(), "ask": "/ask?q=SELECT+1",
	} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 1280, 3840} {
				call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
				b.do(chromedp.EmulateViewport(width, max(800, width/2)), chromedp.Navigate("http://"+address+path))
				b.live()
				if wide := evaluate[int64](b, "document.documentElement.scrollWidth"); wide > width {
					t.Errorf("%s at %d pixels is %d wide", path, width, wide)
				}
				b.picture(fmt.Sprintf("%s-%s-%d", name, scheme, width))
			}
		}
	}
	b.until(`performance.getEntriesByName("first-contentful-paint").length > 0`) // a browser that has no time paints later than it loads
	t.Logf("first paint after %.0f ms", evaluate[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	b.contented()
}

// A node dies and comes back, a session runs to its end, and the console itself goes: the open page shows each of them, and keeps the focus
// meanwhile.
func TestThePageIsLive(t *testing.T) {
	var now atomic.Pointer[Seen]
	now.Store(cluster(t, 2, 2))
	address, tokens, end := serveAll(t, now.Load)
	b := newTab(t)
	b.do(chromedp.Navigate("http://" + address + "/login?token=" + <-tokens))
	b.shows("7 of 7 nodes at work")
	b.do(chromedp.Focus(chromedp.CSS("#node-joiner-2")))
	next := cluster(t, 2, 2)
	next.named(t, "joiner-1").Age = time.Minute
	now.Store(next)
	b.until(`document.querySelectorAll("svg a.box.dead").length === 1`)
	b.shows("6 of 7 nodes at work, 1 silent or damaged")
	next = cluster(t, 2, 2)
	next.Sessions[0].State = session.Done
	now.Store(next)
	b.until(`document.querySelectorAll("svg a.box.dead").length === 0`)
	b.shows("1 running, 1 ended")
	if id := evaluate[string](b, "document.activeElement.id"); id != "node-joiner-2" {
		t.Errorf("after the updates the focus is at %q", id)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`location.pathname === "/node/joiner-2"`)
	b.live() // a console that ends before the new page has its script leaves a page that was never live
	b.contented()
	end()
	b.shows("Not live: no connection to the console")
}

// By keyboard one comes first to the content, and then to everything that can be followed. Nothing has to be hit with a mouse.
func TestKeyboard(t *testing.T) {
	address, tokens := serve(t, cluster(t, 2, 1))
	b := newTab(t)
	b.do(chromedp.Navigate("http://" + address + "/login?token=" + <-tokens))
	b.shows("nodes at work")
	b.do(chromedp.KeyEvent(kb.Tab))
	if text := evaluate[string](b, "document.activeElement.textContent"); text != "Skip to the content" {
		t.Errorf("the first stop is %q", text)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.id === "main"`)
	var stops []string
	for range 30 {
		b.do(chromedp.KeyEvent(kb.Tab))
		stops = append(stops, evaluate[string](b,
			`(document.activeElement.getAttribute("href") || "") + " " + (document.activeElement.getAttribute("aria-label") || "")`))
	}
	all := strings.Join(stops, "\n")
	for _, want := range []string{"Picture of the pipeline", "/node/joiner-1 joiner-1 on host", "/session/"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not reached in 30 steps:\n%s", want, all)
		}
	}
	b.contented()
}

// Without JavaScript everything is there, and says that it is not live.
func TestWithoutJavaScript(t *testing.T) {
	address, tokens := serve(t, busyCluster(t))
	b := newTab(t)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate("http://" + address + "/login?token=" + <-tokens))
	text := get(b, chromedp.Text(chromedp.CSS("body")))
	for _, want := range []string{"Not live: reload", "joiner-2", "silent", "blocked on joiner-3", "flowing again", "812 ms"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

// A statement is completed, asked by keyboard, is wrong, is mended and answered with a chart, and stands in the history of this browser.
// Nothing that was typed or answered is more than text.
func TestAskInTheBrowser(t *testing.T) {
	s := cluster(t, 2, 0)
	address, tokens, _ := serveAll(t, func() *Seen { return s }, answering(t,
		func(_ context.Context, text string, show *display.Progress) (*client.Answer, error) {
			show.Say("note: " + hostile)
			if strings.Contains(text, "FORM") {
				return nil, syntax.NewError(text, syntax.Pos(strings.Index(text, "FORM")), "FORM is not a word of SQL "+hostile, "Did you mean FROM?")
			}
			rows := protocol.NewRows(2)
			for i, city := range []string{"Lima", hostile, "Oslo"} {
				if err := rows.Add(protocol.Value{Kind: protocol.Text, Text: city}, protocol.Value{Kind: protocol.Int,
					Int: int64(10 * (i + 1))}); err != nil {
					return nil, err
				}
			}
			return &client.Answer{Queries: []client.Table{client.NewTable("query_1", []string{"city " + hostile, "trips"}, rows)}}, nil
		}))
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+address+"/login?token="+<-tokens))
	b.live()
	b.do(chromedp.Navigate("http://" + address + "/ask"))
	b.live()
	b.do(chromedp.SendKeys(chromedp.CSS("#q"), "SELECT city, trips FORM tr"))
	b.until(`document.querySelector("#words button") !== null`)
	b.picture("ask-completions")
	b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter)) // to the first completion
	b.until(`document.getElementById("q").value === "SELECT city, trips FORM trips" && document.activeElement.id === "q"`)
	b.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.until(`location.pathname.startsWith("/asked/") && document.querySelector(".problem pre") !== null`)
	b.live()
	b.shows("Did you mean FROM?")
	b.picture("ask-wrong")
	b.do(chromedp.Evaluate[chromedp.Void](
		`document.getElementById("q").value = "SELECT city, trips FROM trips -- </textarea><script>document.title='in'</script>"`))
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("ask").requestSubmit()`))
	b.until(`document.querySelector("svg.chart") !== null`)
	b.live()
	b.shows("query_1: 3 rows")
	b.picture("ask-answer")
	b.do(chromedp.Navigate("http://" + address + "/ask"))
	b.live()
	if n := evaluate[int](b, `document.querySelectorAll("#history li").length`); n != 2 {
		t.Errorf("the history has %d statements", n)
	}
	b.do(chromedp.Navigate("http://" + address + evaluate[string](b, `document.querySelector("#history a").getAttribute("href")`)))
	b.live()
	if text := evaluate[string](b, `document.getElementById("q").value`); !strings.HasPrefix(text,
		"SELECT city, trips FROM trips -- </textarea>") {
		t.Errorf("the history leads to %q", text)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("button[name=explain]").click()`))
	b.until(`document.querySelectorAll(".plan li").length === 4`)
	b.live()
	b.picture("ask-plan")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#history button").click()`))
	b.until(`document.getElementById("history").hidden && localStorage.getItem("posta-asked") === "[]"`)
	if evaluate[bool](b, `document.title === "in" || document.querySelector("img") !== null`) {
		t.Error("something that was typed or answered is more than text")
	}
	b.contented()
}

// A node is killed from its page, and what the medics measure is shown there and in a second browser's overview, live.
func TestBreakInTheBrowser(t *testing.T) {
	var now atomic.Pointer[Seen]
	now.Store(cluster(t, 2, 0))
	killed := make(chan string, 1)
	address, tokens, _ := serveAll(t, now.Load, breaking(func(kind, target string) (string, error) {
		killed <- kind + " " + target
		return "process 17", nil
	}))
	b, second := newTab(t), newTab(t)
	second.do(chromedp.Navigate("http://" + address + "/login?token=" + <-tokens))
	second.live()
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+address+"/login?token="+<-tokens))
	b.live()
	b.do(chromedp.Navigate("http://" + address + "/node/joiner-1"))
	b.live()
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".break summary").click()`))
	b.until(`document.querySelector(".break").open`)
	b.picture("break")
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("button[value=kill]").click()`))
	if got := <-killed; got != "kill joiner-1" {
		t.Errorf("it does %s", got)
	}
	b.shows("nobody has noticed it yet")
	b.live()
	second.shows("nobody has noticed it yet")
	next := cluster(t, 2, 0)
	at := time.Now().Add(time.Second)
	next.Medics.Entries = append(next.Medics.Entries,
		core.Entry{At: at, Kind: core.Suspected, Node: "joiner-1", Silent: 321 * time.Millisecond, Text: "killed"},
		core.Entry{At: at.Add(45 * time.Millisecond), Kind: core.Restarted, Node: "joiner-1"},
		core.Entry{At: at.Add(100 * time.Millisecond), Kind: core.Recovered, Node: "joiner-1", Incarnation: 5})
	now.Store(next)
	for _, page := range []*tab{b, second} {
		page.shows("421 ms in all")
		page.contented()
	}
	b.picture("broken")
}

// The time line continues while a page is open, as a picture and as a table, and keeps what was.
func TestTheTimeLineInTheBrowser(t *testing.T) {
	var now atomic.Pointer[Seen]
	now.Store(cluster(t, 2, 0))
	address, tokens, _ := serveAll(t, now.Load)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+address+"/login?token="+<-tokens))
	b.live()
	b.until(`document.querySelectorAll("#part-timeline polyline").length > 0`)
	next := cluster(t, 2, 0)
	for i := range next.Nodes {
		next.Nodes[i].Beat.Memory = 200 << 20
	}
	now.Store(next)
	first := `document.querySelector("#part-timeline tbody tr td:nth-of-type(2)").textContent`
	b.until(first + ` === "1.4 GiB"`)
	b.shows("took at most 1.4 GiB of memory")
	if evaluate[string](b, `document.querySelector("#part-timeline svg").getAttribute("aria-label")`) == "" {
		t.Error("the picture has no text")
	}
	b.picture("timeline")
	b.contented()
}

// A line that a node logs while its page is open is shown, and those that it logged before it died stay.
func TestTheLogInTheBrowser(t *testing.T) {
	var now atomic.Pointer[Seen]
	now.Store(cluster(t, 2, 0))
	var lines atomic.Pointer[monitor.Lines]
	said := someLines()
	lines.Store(&said)
	address, tokens, _ := serveAll(t, now.Load, logging(func() monitor.Lines { return *lines.Load() }))
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+address+"/login?token="+<-tokens))
	b.live()
	b.do(chromedp.Navigate("http://" + address + "/node/joiner-1"))
	b.live()
	b.shows("msg=running incarnation=3")
	next := someLines()
	next.All = append(next.All, lastlog.Line{Level: "INFO", Text: "msg=draining"})
	lines.Store(&next)
	b.until(`document.querySelector("table.log tbody code").textContent === "msg=draining"`)
	dead := cluster(t, 2, 0)
	dead.named(t, "joiner-1").Age = time.Minute
	now.Store(dead)
	b.until(`document.querySelector(".summary.dead") !== null`)
	b.shows("msg=draining")
	b.contented()
}

// 50 nodes and 1,000 sessions are drawn and followed.
func TestALargeClusterIsShown(t *testing.T) {
	s := cluster(t, 45, 1000)
	address, tokens := serve(t, s)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+address+"/login?token="+<-tokens))
	b.shows("50 of 50 nodes at work")
	b.live()
	// A part outside the window is laid out, and has text to show, only when it comes into it.
	b.do(chromedp.ScrollIntoView(`//a[contains(., "All sessions: 970 more")]`))
	b.shows("All sessions: 970 more")
	b.picture("large")
	b.contented()
}

// The console of a medic goes while its page is open: the page says so, and goes on at the console of another medic, which lets the same
// browser in.
func TestAMedicsDeathUnderTheOpenPage(t *testing.T) {
	s := cluster(t, 2, 0)
	const nobodys = 20001 // a port to which nobody listens, or somebody else
	secret := []byte("only the user of the cluster can read this")
	port, err := freeports.Row(1)
	if err != nil {
		t.Fatal(err)
	}
	second, _, endSecond := serveAll(t, func() *Seen { return s }, byMedic("medic-2", WithSecret(secret), map[string]int{"medic-1": port}))
	at := netip.MustParseAddrPort(second)
	first, _, end := serveAt(t, "127.0.0.1:"+strconv.Itoa(port), func() *Seen { return s },
		byMedic("medic-1", WithSecret(secret), map[string]int{"medic-2": int(at.Port()), "medic-3": nobodys}))
	link, err := Login(context.Background(), first, WithSecret(secret), ProofBySecret(secret))
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(link))
	b.shows("Live, from medic-1")
	b.do(chromedp.Navigate("http://" + first + "/node/joiner-1"))
	b.shows("Live, from medic-1")
	b.contented()
	end()
	taken, err := net.Listen("tcp", first) // another program has the port now, and gets whatever the page still sends
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	stranger := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range r.Cookies() {
			got = append(got, c.Value)
		}
		panic(http.ErrAbortHandler) // as if nobody were there
	})}
	go func() { _ = stranger.Serve(taken) }()
	defer func() { _ = stranger.Close() }()
	b.until(`location.host === "` + second +
		`" && location.pathname === "/node/joiner-1" && document.getElementById("live") !== null && document.getElementById("live").textContent === "Live, from medic-2"`)
	mu.Lock()
	for _, value := range got {
		if answer, _ := newBrowser(t, second).get("/", "Cookie", cookieOf(second)+"="+value); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("with what the stranger got it sees the page: %d", answer.StatusCode)
		}
	}
	if len(got) == 0 {
		t.Error("the stranger got nothing: this test shows nothing")
	}
	mu.Unlock()
	endSecond()
	b.shows("Not live: no connection to the console")
}

// usedBy returns the processor time that a process and all below it have used so far.
func usedBy(t *testing.T, pid int) (used time.Duration) {
	t.Helper()
	const tick = 10 * time.Millisecond // of /proc on Linux
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	parents, times := map[int]int{}, map[int]time.Duration{}
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, _ := strconv.Atoi(fields[1])
		user, _ := strconv.Atoi(fields[11])
		system, _ := strconv.Atoi(fields[12])
		parents[id], times[id] = parent, time.Duration(user+system)*tick
	}
	for id, of := range times {
		for at := id; at > 1; at = parents[at] {
			if at == pid {
				used += of
				break
			}
		}
	}
	return used
}

// TestFigures prints what docs/console.md says of the cost of the console: 50 nodes whose numbers change each second, and 1,000 sessions,
// seen by one browser.
func TestFigures(t *testing.T) {
	var looks [8]*Seen
	for i := range looks {
		looks[i] = cluster(t, 45, 1000)
		for k := range looks[i].Nodes {
			n := &looks[i].Nodes[k]
			n.InRate, n.OutRate = n.InRate*(1+float64((i*7+k)%10)/10), n.OutRate*(1+float64((i*3+k)%10)/10)
			n.Beat.LogBytes += uint64(i*k) << 16
			n.Beat.Uptime += time.Duration(i) * time.Second
		}
		for k := range looks[i].Sessions {
			looks[i].Sessions[k].Bytes += uint64(i*k) << 12
			looks[i].Sessions[k].Age += time.Duration(i) * time.Second
		}
	}
	began := time.Now()
	address, tokens, _ := serveAll(t, func() *Seen { return looks[int(time.Since(began).Seconds())%len(looks)] },
		func(c *Config) { c.Every = time.Second })
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate("http://"+address+"/login?token="+<-tokens))
	b.live()
	b.do(chromedp.Navigate("http://" + address + "/"))
	b.live()
	b.until(`performance.getEntriesByName("first-contentful-paint").length > 0`)
	t.Logf("first paint after %.0f ms", evaluate[float64](b, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	t.Logf("%.0f bytes: the page, its style, script and icon",
		evaluate[float64](b,
			`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].filter((e) => e.initiatorType !== "other" || !e.name.includes("/events")).reduce((sum, e) => sum + e.transferSize, 0)`))
	chromium := chromedp.FromContext(b.ctx).Browser.Process().Pid
	own := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			t.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	time.Sleep(3 * time.Second) // what a page costs once is over
	from, browser, server := time.Now(), usedBy(t, chromium), own()
	time.Sleep(20 * time.Second)
	span := time.Since(from).Seconds()
	t.Logf("of one processor, the browser takes %.1f %%, the server %.1f %%", 100*(usedBy(t, chromium)-browser).Seconds()/span,
		100*(own()-server).Seconds()/span)
	b.contented()
}
