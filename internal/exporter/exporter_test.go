package exporter

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/internal/histogram"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds how long a test waits, however busy the machine is.
const patience = 5 * time.Minute

var (
	jobs = Metric{Name: "test_jobs", Help: "Jobs\\ with\na line end.", Labels: []string{"of", "kind"}}
	took = Metric{Name: "test_duration_seconds", Help: "How long.", Labels: []string{"of"}}
	done = Metric{Name: "test_done_total", Help: "Done."}
)

func example(p *Page) {
	var h histogram.Histogram
	h.Observe(2 * time.Second)
	p.Gauge(&jobs, 3, `a"b\c`, "x\ny")
	p.Counter(&done, 1e12)
	p.Gauge(&jobs, 0.5, "d", "")
	p.Histogram(&took, h.Snapshot(), "d")
}

// TestPage_IsTextOfPrometheus: values of one metric stand together after its HELP and TYPE, in whatever order they came, and no text breaks
// a line.
func TestPage_IsTextOfPrometheus(t *testing.T) {
	var p Page
	example(&p)
	text := string(p.Append(nil))
	for _, want := range []string{
		"# HELP test_jobs Jobs\\\\ with\\na line end.\n# TYPE test_jobs gauge\n" + `test_jobs{of="a\"b\\c",kind="x\ny"} 3` + "\n" +
			`test_jobs{of="d",kind=""} 0.5` + "\n# HELP",
		"# TYPE test_done_total counter\ntest_done_total 1e+12\n",
		"test_duration_seconds_bucket{of=\"d\",le=\"1\"} 0\n", "test_duration_seconds_bucket{of=\"d\",le=\"2.5\"} 1\n",
		"test_duration_seconds_bucket{of=\"d\",le=\"+Inf\"} 1\ntest_duration_seconds_sum{of=\"d\"} 2\ntest_duration_seconds_count{of=\"d\"} 1\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	lint(t, text)
}

// lint parses a page with Prometheus's library, which refuses any other format, and checks the names with its linter.
func lint(t *testing.T, text string) {
	t.Helper()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func start(t *testing.T, healthy, ready error) (address string) {
	t.Helper()
	port, err := freeports.Row(1) // the system does not give such a port to a process that asks for any port; it is free for a moment below
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	// The address is taken while the exporter starts, so the exporter waits for it.
	e, err := Start(Config{Address: address, Collect: example, Healthy: func() error { return healthy }, Ready: func() error { return ready },
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// ask repeats a request until it is answered.
func ask(t *testing.T, r *http.Request) (code int, body string) {
	t.Helper()
	c := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		a, err := c.Do(r)
		if err != nil {
			if time.Now().After(end) {
				t.Fatal(err)
			}
			continue
		}
		b, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(b)
	}
}

func get(t *testing.T, method, url, host string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, url, nil)
	r.RequestURI = ""
	if host != "" {
		r.Host = host
	}
	return ask(t, r)
}

// TestExporter_SaysWhatIsSo: it serves the metrics, including those of the process, and whether the process is healthy and ready, with
// reasons. It gets its address when the holder releases it.
func TestExporter_SaysWhatIsSo(t *testing.T) {
	at := "http://" + start(t, nil, errors.New("it reads its log"))
	code, text := get(t, "GET", at+"/metrics", "")
	if code != http.StatusOK || !strings.Contains(text, "test_done_total 1e+12") || !strings.Contains(text, "\ngo_goroutines ") ||
		!strings.Contains(text, "\nprocess_cpu_seconds_total ") {
		t.Errorf("%d %s", code, text)
	}
	lint(t, text)
	if code, text := get(t, "GET", at+"/healthz", ""); code != http.StatusOK || text != "ok\n" {
		t.Errorf("healthz: %d %s", code, text)
	}
	if code, text := get(t, "GET", at+"/readyz", ""); code != http.StatusServiceUnavailable || text != "it reads its log\n" {
		t.Errorf("readyz: %d %s", code, text)
	}
}

// TestS7_AStrangerAtTheMetrics: only reading is answered, and only under this machine's address.
func TestS7_AStrangerAtTheMetrics(t *testing.T) {
	address := start(t, nil, nil)
	at := "http://" + address
	for _, c := range []struct {
		method, path, host string
		want               int
	}{
		{"POST", "/metrics", "", http.StatusMethodNotAllowed},
		{"DELETE", "/healthz", "", http.StatusMethodNotAllowed},
		{"HEAD", "/metrics", "", http.StatusOK},
		{"GET", "/", "", http.StatusNotFound},
		{"GET", "/metrics/../../etc/passwd", "", http.StatusNotFound},
		{"GET", "/debug/pprof/", "", http.StatusNotFound},
		{"GET", "/metrics", "evil.example:9100", http.StatusMisdirectedRequest},
		{"GET", "/metrics", "localhost", http.StatusOK},
	} {
		if code, _ := get(t, c.method, at+c.path, c.host); code != c.want {
			t.Errorf("%s %s as %q is answered with %d, want %d", c.method, c.path, c.host, code, c.want)
		}
	}
}

// TestMetrics_ScrapesAreFew: more scrapes than are served at a time are refused, not queued.
func TestMetrics_ScrapesAreFew(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	h := Metrics(func(*Page) {
		begun <- struct{}{}
		<-end
	})
	ended := make(chan int)
	for range maxScrapes {
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
			ended <- w.Code
		}()
		<-begun
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more is answered with %d", w.Code)
	}
	close(end)
	for range maxScrapes {
		if code := <-ended; code != http.StatusOK {
			t.Errorf("a scrape is answered with %d", code)
		}
	}
}

func TestStart_NoAddress(t *testing.T) {
	if _, err := Start(Config{Address: "9100"}); err == nil {
		t.Error("it serves at 9100")
	}
}
