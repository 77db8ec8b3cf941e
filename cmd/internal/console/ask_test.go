package console

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
)

// hostile is text that tries to be more than text.
const hostile = `</textarea><script>document.title="in"</script><img src=x onerror=alert(1)>&"'` + "\x1b[31m\u202e"

// rowsOf returns a table of a text and a number.
func rowsOf(t testing.TB, n int) client.Table {
	t.Helper()
	rows := protocol.NewRows(2)
	for i := range n {
		if err := rows.Add(protocol.Value{Kind: protocol.Text, Text: fmt.Sprintf("city %d", i)},
			protocol.Value{Kind: protocol.Int, Int: int64(i * i)}); err != nil {
			t.Fatal(err)
		}
	}
	return client.NewTable("query_1", []string{"city", "trips"}, rows)
}

// answering starts a console that answers SQL: text that begins with SELECT has three rows, or the result of ask.
func answering(t testing.TB, ask func(ctx context.Context, text string, show *display.Progress) (*client.Answer, error)) func(*Config) {
	if ask == nil {
		ask = func(_ context.Context, text string, _ *display.Progress) (*client.Answer, error) {
			if !strings.HasPrefix(text, "SELECT") {
				return nil, syntax.NewError(text, 0, "a statement begins with a verb", "Write SELECT.")
			}
			return &client.Answer{Queries: []client.Table{rowsOf(t, 3)}}, nil
		}
	}
	return func(c *Config) {
		c.Ask = &Asker{
			Tables: func() []string { return []string{"trips", hostile} },
			Answer: ask,
			Explain: func(context.Context, string) (string, error) {
				return "query_1\n  table trips: 1 file of trips.csv, 244 B\n  parsers, of trips: fold into groups\n  reducer: " + hostile +
					"\n  one pass\n", nil
			},
			Complete: func(_ context.Context, text string) (string, []string) {
				if strings.HasSuffix(text, "tr") {
					return text + "ips", []string{"trips"}
				}
				return text, nil
			},
		}
	}
}

// asks posts a statement, and returns the page with its result.
func (b *browser) asks(statement string, more ...string) (*http.Response, string) {
	b.t.Helper()
	form := url.Values{"q": {statement}}
	for _, m := range more {
		form.Set(m, "1")
	}
	return b.do("POST", "/ask", form.Encode(), "Origin", "http://"+b.address)
}

// until reads a page until it has a text.
func (b *browser) until(path, text string) string {
	b.t.Helper()
	var answer *http.Response
	var page string
	if !await.Within(await.Patience, func() bool { answer, page = b.get(path); return strings.Contains(page, text) }) {
		b.t.Fatalf("%s never shows %q: %d\n%s", path, text, answer.StatusCode, page)
	}
	return page
}

// A statement is answered and explained, and a wrong one is shown with its mistake. Each question has a page of its
// own, for every browser that is logged in.
func TestAsk(t *testing.T) {
	s := cluster(t, 2, 1)
	address, tokens, _ := serveAll(t, func() *Seen { return s }, answering(t, nil))
	b := loggedIn(t, address, tokens)
	answer, _ := b.asks("SELECT 1 <b>")
	at := answer.Request.URL.Path
	if answer.StatusCode != 200 || !strings.HasPrefix(at, "/asked/") {
		t.Fatalf("%d at %s", answer.StatusCode, at)
	}
	page := b.until(at, "query_1: 3 rows")
	for _, want := range []string{"answered in", "city 2", `<svg class="chart"`, "As bars", "SELECT 1 &lt;b&gt;</textarea>",
		`href="/ask?q=SELECT&#43;1&#43;%3Cb%3E"`, `<td class="n">4</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s\n%s", want, page)
		}
	}
	if second := loggedIn(t, address, tokens); !strings.Contains(second.until("/ask", "SELECT 1 &lt;b&gt;</code>"), at) {
		t.Error("another browser does not see what was asked")
	}
	if _, page := b.get("/ask?q=" + url.QueryEscape(hostile)); !strings.Contains(page, "&lt;/textarea&gt;") {
		t.Errorf("the link does not lead to the statement:\n%s", page)
	}
	answer, _ = b.asks("nonsense " + hostile)
	page = b.until(answer.Request.URL.Path, "a statement begins with a verb")
	for _, want := range []string{"Line 1, column 1", "<pre>nonsense ", "\n^</pre>", "Write SELECT.", "not run</p>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of a wrong statement lacks %q\n%s", want, page)
		}
	}
	if strings.Contains(page, "<script>") || strings.Contains(page, "<img") {
		t.Errorf("what was typed is more than text:\n%s", page)
	}
	answer, _ = b.asks("SELECT 1", "explain")
	page = b.until(answer.Request.URL.Path, `<ol class="plan">`)
	if !strings.Contains(page, "<strong>parsers, of trips</strong> <span>fold into groups</span>") || strings.Contains(page, "<img") {
		t.Errorf("the plan is\n%s", page)
	}
	if _, words := b.do("POST", "/complete", "q=SELECT+*+FROM+tr", "Origin",
		"http://"+address); words != `{"text":"SELECT * FROM trips","words":["trips"]}`+"\n" {
		t.Errorf("completions: %s", words)
	}
}

// TestR16_LongStatements: what is longer than a statement may be is refused in words, and not read to its end.
func TestR16_LongStatements(t *testing.T) {
	s := cluster(t, 1, 0)
	address, tokens, _ := serveAll(t, func() *Seen { return s }, answering(t,
		func(context.Context, string, *display.Progress) (*client.Answer, error) {
			t.Error("it is asked")
			return nil, nil
		}))
	b := loggedIn(t, address, tokens)
	if answer, page := b.asks("SELECT '" + strings.Repeat("x", syntax.MaxText) +
		"'"); answer.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(page, "at most 64.0 KiB") {
		t.Errorf("%d\n%s", answer.StatusCode, page)
	}
	body := "q=" + strings.Repeat("x", 9<<20)
	r, err := http.NewRequest("POST", "http://"+address+"/ask", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+address)
	// The console closes the connection while the client still writes, so the answer may be lost.
	if answer, err := b.http.Do(r); err == nil {
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("9 MiB: %d", answer.StatusCode)
		}
	}
	if answer, page := b.asks("  "); answer.StatusCode != http.StatusBadRequest || !strings.Contains(page, "Write a statement") {
		t.Errorf("nothing: %d\n%s", answer.StatusCode, page)
	}
}

// Without --data nothing is read, whatever is posted.
func TestAConsoleWithoutFilesAnswersNoStatements(t *testing.T) {
	address, tokens := serve(t, cluster(t, 1, 0))
	b := loggedIn(t, address, tokens)
	if answer, page := b.asks("SELECT 1"); answer.StatusCode != http.StatusForbidden || !strings.Contains(page, "posta console --data DIR") {
		t.Errorf("%d\n%s", answer.StatusCode, page)
	}
	if answer, _ := b.do("POST", "/complete", "q=tr", "Origin", "http://"+address); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("completing: %d", answer.StatusCode)
	}
}

// TestR16_ManyQuestions: so many run at a time, the next is refused in words, and each can be cancelled. The console ends with them.
func TestR16_ManyQuestions(t *testing.T) {
	var running atomic.Int32
	s := cluster(t, 1, 0)
	address, tokens, end := serveAll(t, func() *Seen { return s },
		answering(t, func(ctx context.Context, _ string, show *display.Progress) (*client.Answer, error) {
			running.Add(1)
			defer running.Add(-1)
			show.Update(client.Progress{State: client.Uploading, Streams: []client.StreamProgress{{Name: hostile, Read: 50, Total: 100}}})
			show.Say("note: " + hostile)
			<-ctx.Done()
			return nil, fmt.Errorf("the question: %w", ctx.Err())
		}))
	b := loggedIn(t, address, tokens)
	var at string
	for range maxRunning {
		answer, _ := b.asks("SELECT 1")
		at = answer.Request.URL.Path
	}
	if answer, page := b.asks("SELECT 5"); answer.StatusCode != http.StatusTooManyRequests || !strings.Contains(page, "cancel it") ||
		!strings.Contains(page, "SELECT 5</textarea>") {
		t.Errorf("one more: %d\n%s", answer.StatusCode, page)
	}
	page := b.until(at, `value="50"`)
	if strings.Contains(page, "<script>") || strings.Contains(page, "<img") || !strings.Contains(page, "uploading") {
		t.Errorf("the page of a question that runs:\n%s", page)
	}
	if answer, _ := b.do("POST", at+"/cancel", "", "Origin", "http://"+address); answer.StatusCode != 200 || answer.Request.URL.Path != at {
		t.Errorf("cancelling: %d at %s", answer.StatusCode, answer.Request.URL)
	}
	b.until(at, "<pre>cancelled</pre>")
	if answer, _ := b.asks("SELECT 5"); answer.StatusCode != 200 {
		t.Errorf("there is no room after one was cancelled: %d", answer.StatusCode)
	}
	end()
	if n := running.Load(); n != 0 {
		t.Errorf("%d questions run on after their console", n)
	}
}

// TestR16_QuestionsAreForgotten: the oldest that has ended goes, and none that runs.
func TestR16_QuestionsAreForgotten(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	k := &works{life: ctx, now: time.Now}
	if err := k.begin("runs", "SELECT", answerWhen(nil)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * worksKept {
		done := make(chan struct{})
		close(done)
		key := fmt.Sprint(i)
		if err := k.begin(key, "SELECT", answerWhen(done)); err != nil {
			t.Fatal(err)
		}
		await.Until(t, key+" ends", k.find(key).ended)
	}
	if k.find("runs") == nil || k.find("0") != nil || k.find(fmt.Sprint(2*worksKept-1)) == nil || len(k.seen()) != worksKept {
		t.Errorf("%d are kept", len(k.seen()))
	}
	end()
	k.wait()
	if err := k.begin("late", "", answerWhen(nil)); !errors.Is(err, errManyRunning) {
		t.Errorf("after the end: %v", err)
	}
}

// The answers of a session are fetched when it is done, once for all who look, and again only after a while if that failed.
func TestAnswersOfASession(t *testing.T) {
	s := cluster(t, 1, 2)
	id := s.Sessions[0].Session
	var fetched atomic.Int32
	var fails atomic.Bool
	fails.Store(true)
	var now atomic.Pointer[Seen]
	now.Store(s)
	address, tokens, _ := serveAll(t, now.Load, func(c *Config) {
		c.Answers = func(context.Context, session.ID) (*client.Answer, error) {
			fetched.Add(1)
			if fails.Load() {
				return nil, errors.New("no output answers\n    and that twice")
			}
			return &client.Answer{Queries: []client.Table{rowsOf(t, 3)}}, nil
		}
	})
	b := loggedIn(t, address, tokens)
	path := "/session/" + id.String()
	if _, page := b.get(path); strings.Contains(page, "Answers</h2>") || fetched.Load() != 0 {
		t.Errorf("a session that runs has answers:\n%s", page)
	}
	done := func(bytes uint64) *Seen {
		next := cluster(t, 1, 2)
		next.Sessions[0].State = session.Done
		next.Sessions = append(next.Sessions, protocol.SessionInfo{Session: id, Analysis: "bikes", State: session.Done, Node: "output-1",
			Bytes: bytes})
		return next
	}
	now.Store(done(largeAnswers + 1))
	b.until(path, "Show the first rows") // the list of sessions is asked for every 2 s
	if fetched.Load() != 0 {
		t.Error("large answers are fetched though nobody wants them")
	}
	if answer, _ := b.do("POST", path+"/answers", "", "Origin", "http://"+address); answer.Request.URL.Path != path {
		t.Errorf("wanting them leads to %s", answer.Request.URL)
	}
	b.until(path, "and that twice")
	fails.Store(false)
	now.Store(done(100))
	b.until(path, "city 2")
	n := fetched.Load()
	for range 10 {
		b.get(path)
	}
	if fetched.Load() != n {
		t.Errorf("they were fetched after %d times, and are fetched again", n)
	}
}

func answerWhen(done <-chan struct{}) func(context.Context, *work) (template.HTML, error) {
	return func(ctx context.Context, _ *work) (template.HTML, error) {
		select {
		case <-done:
			return "", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// TestR16_LargeAnswers: a page has a bound, whatever the answer, and says what it leaves out.
func TestR16_LargeAnswers(t *testing.T) {
	many := rowsOf(t, 100_000)
	columns := make([]string, 500)
	values := make([]protocol.Value, len(columns))
	for i := range columns {
		columns[i], values[i] = fmt.Sprintf("column %d %s", i, hostile), protocol.Value{Kind: protocol.Text, Text: strings.Repeat(hostile, 400)}
	}
	wide := protocol.NewRows(len(columns))
	for range 3 {
		if err := wide.Add(values...); err != nil {
			t.Fatal(err)
		}
	}
	for name, answer := range map[string]*client.Answer{
		"rows":    {Queries: []client.Table{many}},
		"columns": {Queries: []client.Table{client.NewTable(hostile, columns, wide)}},
		"queries": {Queries: make([]client.Table, 1000), Warnings: make([]client.Warning, 1000),
			Rejected: []protocol.Rejected{{Stream: hostile, Rows: 3, First: []protocol.RejectedRow{{File: hostile, Reason: hostile}}}}},
		"none": {},
	} {
		html, err := DrawAnswer(answer, pageRoom, "Here is all.")
		if err != nil {
			t.Fatal(err)
		}
		if text := string(html); len(text) > 180<<10 || strings.Contains(text, "<script") || strings.Contains(text, "<img") ||
			strings.Contains(text, "\x1b") {
			t.Errorf("%s: %d bytes, %.300s", name, len(text), text)
		}
		want := map[string]string{
			"rows": "This page shows the first 200 of 100,000 rows. Here is all.", "columns": "the first 60 of 500 columns",
			"queries": "And 976 more answers", "none": "There are no answers",
		}[name]
		if !strings.Contains(string(html), want) {
			t.Errorf("%s does not say %q: %.500s", name, want, html)
		}
	}
}

// How far a stream is, and how long it takes, in steps.
func TestProgressOfAStream(t *testing.T) {
	for _, c := range []struct {
		p     client.StreamProgress
		since time.Duration
		want  string
		share int
	}{
		{client.StreamProgress{Total: 100}, 0, "0 B of 100 B", 0},
		{client.StreamProgress{Read: 100 << 20, Total: 400 << 20}, 10 * time.Second, "100.0 MiB of 400.0 MiB, 10.0 MiB/s, about 30s left", 25},
		{client.StreamProgress{Read: 100 << 20, Total: 400 << 20}, 10 * time.Millisecond, "100.0 MiB of 400.0 MiB", 25},
		{client.StreamProgress{Read: 100, Total: 100}, time.Second, "100 B of 100 B, 100 B/s", 99},
		{client.StreamProgress{Read: 100, Total: -1}, time.Second, "100 B, 100 B/s", -1},
		{client.StreamProgress{Read: 100, Total: 100, Ended: true, Files: 2}, time.Second, "100 B of 2 files, all of it", 100},
	} {
		if r := streamRowOf(&c.p, c.since); r.Text != c.want || r.Percent != c.share {
			t.Errorf("%+v: %d %q, want %d %q", c.p, r.Percent, r.Text, c.share, c.want)
		}
	}
}

// TestR16_ManySessionPages: as many pages of sessions as can be live keep their answers, each fetched once, and nobody has to wait with a
// question for them.
func TestR16_ManySessionPages(t *testing.T) {
	s := cluster(t, 1, maxWatchers)
	for i := range s.Sessions {
		s.Sessions[i].State = session.Done
	}
	var fetched atomic.Int64
	hold := make(chan struct{})
	address, tokens, _ := serveAll(t, func() *Seen { return s }, answering(t, nil), func(c *Config) {
		c.Answers = func(ctx context.Context, _ session.ID) (*client.Answer, error) {
			fetched.Add(1)
			select {
			case <-hold:
			case <-ctx.Done():
			}
			return &client.Answer{Queries: []client.Table{rowsOf(t, 1)}}, nil
		}
	})
	b := loggedIn(t, address, tokens)
	page := func(i int) string {
		_, text := b.get("/session/" + s.Sessions[i].Session.String())
		return text
	}
	for i := range maxRunning + 1 {
		page(i)
	}
	if _, text := b.do("POST", "/ask", "q=SELECT+1", "Origin", "http://"+address); strings.Contains(text, "being answered already") {
		t.Error("a question waits for the answers of sessions")
	}
	close(hold)
	for range 2 {
		for i := range s.Sessions {
			await.Until(t, fmt.Sprintf("the page of session %d has answers", i), func() bool {
				return strings.Contains(page(i), `<table class="answer">`)
			})
		}
	}
	if n := fetched.Load(); n != maxWatchers {
		t.Errorf("the answers of %d sessions were fetched %d times", maxWatchers, n)
	}
}
