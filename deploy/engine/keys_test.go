package engine

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// secret is a text that may appear in no call but on the container's standard input.
const secret = "the private key"

type testKeys string

func (k testKeys) Digest() string { return "digest" }

func (k testKeys) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, string(k))
	return int64(n), err
}

// keyEngine is an engine that lets a container read its standard input. It records the contents of all other calls.
type keyEngine struct {
	*fake
	sync.Mutex // guards what follows
	told       strings.Builder
	input      string
	calls      []string
	status     int // of the container that reads
}

func newKeyEngine(t *testing.T) (*keyEngine, *Engine) {
	k := &keyEngine{fake: newFake()}
	tell := func(answer func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			k.Lock()
			k.told.WriteString(r.URL.String() + " " + string(body) + "\n")
			k.calls = append(k.calls, r.Method+" "+r.URL.Path[strings.Index(r.URL.Path[1:], "/")+1:]+"?"+r.URL.RawQuery)
			k.Unlock()
			answer(w, r)
		}
	}
	container := func(name, shape string, running bool) map[string]any {
		return map[string]any{"Id": name, "Name": "/" + name, "State": map[string]any{"Running": running},
			"Config": map[string]any{"Labels": map[string]string{
				topology.LabelCluster: "c", topology.LabelNode: "joiner-1", plan.LabelShape: shape}}}
	}
	k.answers["GET /volumes/c-joiner-1"] = says(http.StatusOK, map[string]any{"Name": "c-joiner-1"})
	k.answers["POST /containers/create"] = tell(says(http.StatusCreated, map[string]any{"Id": "1"}))
	k.answers["POST /containers/c-probe-a/attach"] = func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn,
			"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
		k.fake.mu.Unlock() // ServeHTTP has it, and the container is to be started meanwhile
		defer k.fake.mu.Lock()
		all, _ := io.ReadAll(buffered)
		k.Lock()
		defer k.Unlock()
		k.input = string(all)
	}
	k.answers["POST /containers/c-probe-a/start"] = tell(says(http.StatusNoContent, nil))
	k.answers["POST /containers/c-probe-a/wait"] = func(w http.ResponseWriter, r *http.Request) {
		says(http.StatusOK, map[string]any{"StatusCode": k.status})(w, r)
	}
	k.answers["GET /containers/c-probe-a/logs"] = says(http.StatusOK, nil)
	k.answers["DELETE /containers/c-probe-a"] = tell(says(http.StatusNoContent, nil))
	k.answers["GET /containers/json"] = says(http.StatusOK, []map[string]any{{"Id": "runs"}, {"Id": "other"}, {"Id": "ended"}})
	k.answers["GET /containers/runs/json"] = says(http.StatusOK, container("runs", "s", true))
	k.answers["GET /containers/other/json"] = says(http.StatusOK, container("other", "without keys", true))
	k.answers["GET /containers/ended/json"] = says(http.StatusOK, container("ended", "s", false))
	k.answers["POST /containers/runs/kill"] = tell(says(http.StatusNoContent, nil))
	return k, k.open(t)
}

var joiner = &plan.Unit{Name: "joiner-1", Spec: plan.Spec{Labels: map[string]string{plan.LabelShape: "s"}}}

// TestS6_KeysGoThroughStandardInput: nothing that the engine stores or shows contains keys. The unit's running
// container reads them, units without keys are not touched, and the note comes last.
func TestS6_KeysGoThroughStandardInput(t *testing.T) {
	k, e := newKeyEngine(t)
	if err := e.CarryKeys(t.Context(), "c", "posta:sha-1", "c-joiner-1", joiner, testKeys(secret)); err != nil {
		t.Fatal(err)
	}
	k.Lock()
	defer k.Unlock()
	if k.input != secret || strings.Contains(k.told.String(), secret) {
		t.Errorf("the container read %q, and the engine was told\n%s", k.input, k.told.String())
	}
	kill := slices.IndexFunc(k.calls, func(c string) bool { return strings.Contains(c, "/runs/kill?signal=HUP") })
	note := slices.IndexFunc(k.calls, func(c string) bool { return strings.Contains(c, "create?name=c-joiner-1-keys") })
	if kill < 0 || note < kill || note != len(k.calls)-1 {
		t.Errorf("calls are %q", k.calls)
	}
	if other := slices.IndexFunc(k.asked, func(c string) bool {
		return c == "POST /containers/other/kill" ||
			c == "POST /containers/ended/kill"
	}); other >= 0 {
		t.Errorf("%s", k.asked[other])
	}
	if !strings.Contains(k.told.String(), `"digest"`) {
		t.Errorf("the note does not say which keys they are:\n%s", k.told.String())
	}
}

// TestS6_KeysThatWereNotTakenAreNotNoted: so the next deploy brings them again.
func TestS6_KeysThatWereNotTakenAreNotNoted(t *testing.T) {
	k, e := newKeyEngine(t)
	k.status = 1
	err := e.CarryKeys(t.Context(), "c", "posta:sha-1", "c-joiner-1", joiner, testKeys(secret))
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("carried: %v", err)
	}
	k.Lock()
	defer k.Unlock()
	if slices.ContainsFunc(k.calls, func(c string) bool {
		return strings.Contains(c, "name=c-joiner-1-keys") ||
			strings.Contains(c, "kill")
	}) {
		t.Errorf("calls are %q", k.calls)
	}
}

// TestS6_WhichEnginesArePlain: a plain connection is one that others on the network can read.
func TestS6_WhichEnginesArePlain(t *testing.T) {
	for _, c := range []struct {
		d              topology.Deploy
		host, cert, ok string
		plain          bool
	}{
		{d: topology.Deploy{}},
		{d: topology.Deploy{}, host: "unix:///run/docker.sock"},
		{d: topology.Deploy{}, host: "tcp://10.0.0.1:2375", plain: true},
		{d: topology.Deploy{}, host: "tcp://10.0.0.1:2376", cert: "/certs", plain: true}, // whoever answers is believed
		{d: topology.Deploy{}, host: "tcp://10.0.0.1:2376", cert: "/certs", ok: "1"},
		{d: topology.Deploy{Engine: "unix:///run/docker.sock"}, host: "tcp://10.0.0.1:2375"},
		{d: topology.Deploy{Engine: "ssh://ops@10.0.0.1"}},
		{d: topology.Deploy{Engine: "tcp://127.0.0.1:2375"}, plain: true},
		{d: topology.Deploy{Engine: "tcp://10.0.0.1:2376", CA: "ca.pem", Cert: "cert.pem", Key: "key.pem"}},
	} {
		t.Setenv("DOCKER_HOST", c.host)
		t.Setenv("DOCKER_CERT_PATH", c.cert)
		t.Setenv("DOCKER_TLS_VERIFY", c.ok)
		if got := plain(c.d); got != c.plain {
			t.Errorf("%+v: plain %v", c, got)
		}
	}
	_, e := newKeyEngine(t)
	if !e.plain {
		t.Error("an open engine does not remember it")
	}
}
