package docker

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/temp"
)

const cluster = "test"

// fake is an engine behind a unix socket. It has containers, and fails in the ways in which engines fail.
type fake struct {
	t       *testing.T
	version string

	mu         sync.Mutex
	containers map[string]*fakeContainer // by id
	clock      int
	calls      []string // "start c1"
	trouble    map[string][]trouble
	listeners  map[chan string]bool
	changed    chan struct{} // closed and made again with each change of a container
	stop       chan struct{} // releases calls that hang
}

type fakeContainer struct {
	id, node string
	running  bool
	paused   bool
	deaf     bool // to signals that it can ignore
	pid      int
	started  int
	exit     int
	network  string // "" while the container is disconnected
	aliases  []string
	created  int
	oneOff   bool
	files    []string // that were put into it
}

// trouble is what happens to a call instead of an answer.
type trouble struct {
	status int           // answer this
	late   time.Duration // answer after this
	hang   bool          // never answer
	done   bool          // but the call is carried out
	cut    bool          // cut the connection
}

func newEngineOf(t *testing.T, call time.Duration) (*fake, *Restarter) {
	t.Helper()
	f := &fake{t: t, version: "1.41", containers: map[string]*fakeContainer{}, trouble: map[string][]trouble{},
		listeners: map[chan string]bool{},
		changed:   make(chan struct{}), stop: make(chan struct{})}
	dir := temp.Sockets(t)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	s.Listener = l
	s.Start()
	t.Setenv("DOCKER_HOST", "unix://"+filepath.Join(dir, "s"))
	r, err := New(Config{Cluster: cluster, Call: call})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(f.stop)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		s.CloseClientConnections()
		s.Close()
	})
	return f, r
}

// has adds a running container.
func (f *fake) has(id string, node medic.NodeID) *fakeContainer {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &fakeContainer{id: id, node: string(node), network: "test_default", aliases: []string{string(node)}, created: len(f.containers) + 1}
	f.containers[id] = c
	f.startLocked(c)
	return c
}

// with calls a function that changes a container.
func (f *fake) with(c *fakeContainer, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	f.changeLocked()
}

// state returns whether a container runs, and when it was last started.
func (f *fake) state(c *fakeContainer) (running bool, started int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return c.running, c.started
}

func (f *fake) die(c *fakeContainer, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dieLocked(c, code)
}

// meets makes the next calls of a kind ("start", "json", …) fail, each with one of the given troubles.
func (f *fake) meets(call string, ts ...trouble) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble[call] = append(f.trouble[call], ts...)
}

// did returns the calls since its last call that changed something.
func (f *fake) did() (did []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if name, _, _ := strings.Cut(c, " "); name != "json" && name != "list" && name != "wait" && name != "events" && name != "ping" {
			did = append(did, c)
		}
	}
	f.calls = nil
	return did
}

func (f *fake) changeLocked() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fake) startLocked(c *fakeContainer) {
	f.clock++
	c.running, c.started, c.pid, c.exit = true, f.clock, 1000+f.clock, 0
	f.changeLocked()
	f.tellLocked("start", c)
}

func (f *fake) dieLocked(c *fakeContainer, code int) {
	c.running, c.paused, c.exit, c.pid = false, false, code, 0
	f.changeLocked()
	f.tellLocked("die", c)
}

func (f *fake) tellLocked(what string, c *fakeContainer) {
	e := fmt.Sprintf(`{"Type":"container","Action":%q,"Actor":{"ID":%q,"Attributes":{"posta.node":%q,"posta.cluster":%q}}}`, what, c.id,
		c.node, cluster)
	for l := range f.listeners {
		select {
		case l <- e:
		default:
			f.t.Error("a listener does not read")
		}
	}
}

// cutEvents ends all streams of events.
func (f *fake) cutEvents() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.listeners {
		close(l)
		delete(f.listeners, l)
	}
}

func (f *fake) listening() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.listeners)
}

// kind names a call by verb and container: "/v1.41/containers/c1/start" is "start c1".
func kind(r *http.Request) (call, id string) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) > 0 && strings.HasPrefix(parts[0], "v") {
		parts = parts[1:]
	}
	switch {
	case len(parts) == 1:
		return strings.TrimPrefix(parts[0], "_"), ""
	case parts[0] == "containers" && parts[1] == "json":
		return "list", ""
	case parts[0] == "networks" && len(parts) == 2:
		return "network", parts[1]
	case len(parts) == 3:
		return parts[2], parts[1]
	}
	return strings.Join(parts, " "), ""
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	call, id := kind(r)
	f.mu.Lock()
	f.calls = append(f.calls, strings.TrimSpace(call+" "+id))
	var met trouble
	if ts := f.trouble[call]; len(ts) > 0 {
		met, f.trouble[call] = ts[0], ts[1:]
	}
	f.mu.Unlock()
	if met.late > 0 {
		time.Sleep(met.late)
	}
	if met.status != 0 {
		answer(w, met.status, map[string]string{"message": "trouble"})
		return
	}
	if met.hang || met.cut {
		if met.done {
			f.carryOut(httptest.NewRecorder(), r, call, id)
		}
		if met.cut {
			panic(http.ErrAbortHandler)
		}
		select {
		case <-r.Context().Done():
		case <-f.stop:
		}
		return
	}
	f.carryOut(w, r, call, id)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *fake) carryOut(w http.ResponseWriter, r *http.Request, call, id string) {
	switch call {
	case "ping":
		w.Header().Set("Api-Version", f.version)
		w.WriteHeader(http.StatusOK)
		return
	case "events":
		f.events(w, r)
		return
	case "wait":
		f.wait(w, r, id)
		return
	case "list":
		f.list(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if call == "connect" || call == "disconnect" {
		f.wire(w, r, call, id)
		return
	}
	c := f.containers[id]
	if c == nil {
		answer(w, http.StatusNotFound, map[string]string{"message": "No such container: " + id})
		return
	}
	switch call {
	case "json":
		answer(w, http.StatusOK, c.inspect())
	case "start":
		if c.running {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		f.startLocked(c)
		w.WriteHeader(http.StatusNoContent)
	case "archive":
		if r.Method != http.MethodPut {
			answer(w, http.StatusMethodNotAllowed, nil)
			return
		}
		head, err := tar.NewReader(r.Body).Next()
		if err != nil {
			f.t.Errorf("an archive that nobody can read: %v", err)
			return
		}
		c.files = append(c.files, r.URL.Query().Get("path")+"/"+head.Name)
		w.WriteHeader(http.StatusOK)
	case "unpause":
		if !c.paused {
			answer(w, http.StatusConflict, map[string]string{"message": "it is not paused"})
			return
		}
		c.paused = false
		w.WriteHeader(http.StatusNoContent)
	case "kill":
		sig := r.URL.Query().Get("signal")
		switch {
		case !c.running || c.paused:
			answer(w, http.StatusConflict, map[string]string{"message": "it does not run, or is paused"})
			return
		case sig == "SIGKILL":
			f.dieLocked(c, 137)
		case sig == "SIGTERM" && !c.deaf:
			f.dieLocked(c, 0)
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		f.t.Errorf("nobody has told the fake engine about %s", r.URL.Path)
	}
}

// wire connects and disconnects.
func (f *fake) wire(w http.ResponseWriter, r *http.Request, call, name string) {
	var body struct {
		Container      string
		EndpointConfig struct{ Aliases []string }
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	c := f.containers[body.Container]
	switch {
	case name != "test_default" || c == nil:
		answer(w, http.StatusNotFound, map[string]string{"message": "network not found"})
	case call == "connect" && c.network != "":
		answer(w, http.StatusForbidden, map[string]string{"message": "endpoint exists"})
	case call == "connect":
		c.network, c.aliases = name, body.EndpointConfig.Aliases
	default:
		c.network, c.aliases = "", nil
	}
}

func (c *fakeContainer) state() string {
	switch {
	case c.paused:
		return "paused"
	case c.running:
		return "running"
	}
	return "exited"
}

func (c *fakeContainer) labels() map[string]string {
	l := map[string]string{LabelCluster: cluster, LabelNode: c.node, labelService: "service-" + c.node}
	if c.oneOff {
		l[labelOneOff] = "True"
	}
	return l
}

func (c *fakeContainer) inspect() any {
	networks := map[string]any{}
	if c.network != "" {
		networks[c.network] = map[string]any{"Aliases": c.aliases}
	}
	return map[string]any{
		"Id": c.id, "HostConfig": map[string]any{"NetworkMode": "test_default"}, "Config": map[string]any{"Labels": c.labels()},
		"NetworkSettings": map[string]any{"Networks": networks},
		"State": map[string]any{"Status": c.state(), "Running": c.running, "Paused": c.paused, "Pid": c.pid, "ExitCode": c.exit,
			"StartedAt": fmt.Sprintf("2025-01-01T00:00:%02dZ", c.started)},
	}
}

func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []any{}
	for _, c := range f.containers {
		if filters := r.URL.Query().Get("filters"); !strings.Contains(filters, LabelNode+"=") ||
			strings.Contains(filters, LabelNode+"="+c.node+`"`) {
			all = append(all, map[string]any{"Id": c.id, "State": c.state(), "Labels": c.labels(), "Created": c.created})
		}
	}
	answer(w, http.StatusOK, all)
}

func (f *fake) wait(w http.ResponseWriter, r *http.Request, id string) {
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		f.mu.Lock()
		c, changed := f.containers[id], f.changed
		over := c == nil || !c.running
		f.mu.Unlock()
		if over {
			_ = json.NewEncoder(w).Encode(map[string]any{"StatusCode": 0})
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-f.stop:
			return
		}
	}
}

func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	l := make(chan string, 64)
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	f.mu.Lock()
	f.listeners[l] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, l)
	}()
	for {
		select {
		case e, more := <-l:
			if !more {
				return
			}
			_, _ = fmt.Fprintln(w, e)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		case <-f.stop:
			return
		}
	}
}
