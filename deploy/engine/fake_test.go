package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/deploy/lock"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// TestMain is also the program that a test runs in place of ssh: it connects its standard input and output to the
// socket that the environment names.
func TestMain(m *testing.M) {
	if socket := os.Getenv("POSTA_TEST_SSH_TO"); socket != "" {
		os.Exit(stdio(socket))
	}
	goleak.VerifyTestMain(m)
}

func stdio(socket string) int {
	if socket == "nowhere" {
		_, _ = os.Stderr.WriteString("ssh: connect to host b port 22: Connection refused\n")
		return 255
	}
	c, err := net.Dial("unix", socket)
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 255
	}
	go func() { _, _ = io.Copy(c, os.Stdin) }()
	_, _ = io.Copy(os.Stdout, c)
	return 0
}

// fake is an engine with prepared answers, which records its calls.
type fake struct {
	mu      sync.Mutex
	version string
	answers map[string]func(w http.ResponseWriter, r *http.Request) // by method and path behind the version
	asked   []string
}

func newFake() *fake {
	return &fake{version: MinVersion, answers: map[string]func(http.ResponseWriter, *http.Request){}}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, "/v"+MinVersion); ok {
		path = rest
	}
	if path == "/_ping" {
		w.Header().Set("Api-Version", f.version)
		return
	}
	key := r.Method + " " + path
	f.asked = append(f.asked, key)
	if a := f.answers[key]; a != nil {
		a(w, r)
		return
	}
	http.Error(w, `{"message":"no such thing"}`, http.StatusNotFound)
}

func says(status int, v any) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
}

func (f *fake) open(t *testing.T) *Engine {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	e, err := Open(t.Context(), "a", topology.Deploy{Engine: "tcp://" + s.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestAnOldEngineIsRefused(t *testing.T) {
	f := newFake()
	f.version = "1.40"
	s := httptest.NewServer(f)
	defer s.Close()
	_, err := Open(t.Context(), "a", topology.Deploy{Engine: "tcp://" + s.Listener.Addr().String()})
	if !errors.Is(err, errTooOld) || !strings.Contains(err.Error(), "host a") {
		t.Fatal(err)
	}
}

func TestAnEngineThatIsNotThere(t *testing.T) {
	_, err := Open(t.Context(), "a", topology.Deploy{Engine: "unix://" + filepath.Join(t.TempDir(), "none.sock")})
	if err == nil || !OutcomeUnknown(err) {
		t.Fatalf("%v", err)
	}
}

// The ssh program gets the right arguments, and its errors are reported.
func TestOverSSH(t *testing.T) {
	dir := temp.Sockets(t)
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.answers["GET /info"] = says(http.StatusOK, map[string]any{"ID": "E1", "OSType": "linux", "Architecture": "aarch64",
		"SystemTime": time.Now().Add(time.Hour).Format(time.RFC3339Nano)})
	s := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }()
	defer func() { _ = s.Close(); <-served }()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho \"$@\" >> " + filepath.Join(dir, "args") + "\nexec " + exe + "\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("POSTA_TEST_SSH_TO", socket)
	e, err := Open(t.Context(), "b", topology.Deploy{Engine: "ssh://ops@b.example:2222"})
	if err != nil {
		t.Fatal(err)
	}
	var o plan.Engine
	if err := e.info(t.Context(), "", &o); err != nil || o.ID != "E1" || o.Arch != "arm64" || o.Offset < 59*time.Minute {
		t.Fatalf("%+v, %v", o, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil || !strings.Contains(string(args), "-l ops -p 2222 -- b.example docker system dial-stdio") ||
		!strings.Contains(string(args), "BatchMode=yes") {
		t.Fatalf("%v: ssh was called with %s", err, args)
	}
	t.Setenv("POSTA_TEST_SSH_TO", "nowhere")
	if _, err := Open(t.Context(), "b", topology.Deploy{Engine: "ssh://ops@b.example"}); err == nil ||
		!strings.Contains(err.Error(), "Connection refused") {
		t.Fatalf("ssh that fails: %v", err)
	}
}

func TestLoad_AnErrorBehindASuccess(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["POST /images/load"] = says(http.StatusOK, map[string]string{"error": "no space left on device"})
	moved := 0
	err := e.Load(t.Context(), "posta:sha-1", bytes.NewReader(make([]byte, 1000)), func(n int) { moved += n })
	if err == nil || !strings.Contains(err.Error(), "no space left") || moved != 1000 {
		t.Fatalf("%v, %d bytes", err, moved)
	}
	f.answers["POST /images/load"] = says(http.StatusOK, map[string]string{"stream": "Loaded image: another:1"})
	if err := e.Load(t.Context(), "posta:sha-1", bytes.NewReader(nil), nil); err == nil {
		t.Fatal("an image that is not there afterwards was loaded")
	}
}

// After a lost answer the container exists already, and create accepts it. A container of another cluster is not
// touched.
func TestCreate_WhatIsThereAlready(t *testing.T) {
	f := newFake()
	e := f.open(t)
	u := &plan.Unit{Name: "joiner-1", Hash: "0123456789", Spec: plan.Spec{Image: "posta:sha-1",
		Labels: map[string]string{"posta.cluster": "c"}}}
	f.answers["POST /containers/create"] = says(http.StatusConflict, map[string]string{"message": "the name is in use"})
	there := func(spec string) {
		f.answers["GET /containers/c-joiner-1/json"] = says(http.StatusOK, map[string]any{
			"Id": "1", "Config": map[string]any{"Labels": map[string]string{"posta.cluster": "c", plan.LabelSpec: spec}}, "State": map[string]any{}})
	}
	there("0123456789")
	if err := e.Create(t.Context(), "c-joiner-1", u); err != nil {
		t.Fatalf("the same: %v", err)
	}
	there("9876543210")
	if err := e.Create(t.Context(), "c-joiner-1", u); err == nil {
		t.Fatal("another one was taken for it")
	}
}

// To stop or remove a container that does not exist is not an error; to start one is.
func TestWhatIsGone(t *testing.T) {
	e := newFake().open(t)
	ctx := t.Context()
	for what, err := range map[string]error{
		"stop": e.Stop(ctx, "x", time.Second), "remove": e.Remove(ctx, "x"), "volume": e.DeleteVolume(ctx, "c", "x"),
		"network": e.RemoveNetwork(ctx, "x"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := e.Start(ctx, "x"); err == nil || OutcomeUnknown(err) {
		t.Errorf("start: %v", err)
	}
	if _, err := e.Exec(ctx, time.Second, "x", "true"); err == nil {
		t.Error("a container that is not there answers")
	}
}

func TestMakeVolume_OfSomebodyElse(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["POST /volumes/create"] = says(http.StatusCreated, map[string]any{"Name": "v",
		"Labels": map[string]string{"posta.cluster": "other"}})
	if err := e.CreateVolume(t.Context(), "v", map[string]string{"posta.cluster": "c"}); err == nil ||
		!strings.Contains(err.Error(), "does not belong to this cluster") {
		t.Fatal(err)
	}
}

// A volume that was made for a copy counts as incomplete until it is marked complete.
func TestVolumes_Partial(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["GET /volumes"] = says(http.StatusOK, map[string]any{"Volumes": []map[string]any{
		{"Name": "c-joiner-1", "Labels": map[string]string{"posta.cluster": "c", "posta.node": "joiner-1", plan.LabelArriving: "yes"}}}})
	arrived := []map[string]any{}
	f.answers["GET /containers/json"] = func(w http.ResponseWriter, r *http.Request) { says(http.StatusOK, arrived)(w, r) }
	f.answers["GET /containers/n/json"] = says(http.StatusOK, map[string]any{"Id": "n",
		"Config": map[string]any{"Labels": map[string]string{plan.LabelArrived: "c-joiner-1"}}, "State": map[string]any{}})
	for _, c := range []struct {
		ran, note, partial bool
	}{{false, false, true}, {true, false, false}, {false, true, false}} {
		o := plan.Engine{}
		if c.ran {
			o.Containers = []plan.Container{{Unit: "joiner-1", EverStarted: true}}
		}
		arrived = nil
		if c.note {
			arrived = append(arrived, map[string]any{"Id": "n"})
		}
		if err := e.volumes(t.Context(), "c", &o); err != nil || len(o.Volumes) != 1 || o.Volumes[0].Partial != c.partial {
			t.Errorf("%+v: %+v, %v", c, o.Volumes, err)
		}
	}
}

// A volume without labels belongs to the cluster if one of its containers uses it. Otherwise it is an obstacle.
func TestVolumes_WithoutLabels(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["GET /volumes"] = says(http.StatusOK, map[string]any{"Volumes": []map[string]any{
		{"Name": "c-joiner-1"}, {"Name": "c-joiner-2"}, {"Name": "c-fence-a"},
		{"Name": "c-deploy-lock-3", "Labels": map[string]string{labelLock: "c"}},
	}})
	f.answers["GET /containers/json"] = says(http.StatusOK, []map[string]any{})
	o := plan.Engine{Containers: []plan.Container{
		{Unit: "joiner-1", Host: "a", Chain: "joiner", Mounts: []string{"c-joiner-1"}},
		{Unit: "medic-1", Host: "a", Mounts: []string{"c-medic-1", "c-fence-a", "c-joiner-2"}},
	}}
	if err := e.volumes(t.Context(), "c", &o); err != nil {
		t.Fatal(err)
	}
	want := []plan.Volume{{Name: "c-joiner-1", Node: "joiner-1", Chain: "joiner"}, {Name: "c-fence-a", Fence: "a"}}
	if !slices.Equal(o.Volumes, want) || !slices.Equal(o.Strangers, []string{"c-joiner-2"}) {
		t.Errorf("%+v, strangers %v", o.Volumes, o.Strangers)
	}
}

// If its volume is gone, no container is made: the engine would create a new volume without labels.
func TestCreate_ItsVolumeIsGone(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["POST /containers/create"] = says(http.StatusCreated, map[string]any{"Id": "1"})
	u := &plan.Unit{Name: "joiner-1", Hash: "0123456789", Spec: plan.Spec{Image: "posta:sha-1",
		Mounts: []plan.Mount{{Volume: "c-joiner-1", Target: "/posta"}}}}
	if err := e.Create(t.Context(), "c-joiner-1-01234567", u); err == nil || !strings.Contains(err.Error(), "c-joiner-1 has been removed") {
		t.Fatalf("the engine has made the volume: %v", err)
	}
	f.answers["GET /volumes/c-joiner-1"] = says(http.StatusOK, map[string]any{"Name": "c-joiner-1"})
	if err := e.Create(t.Context(), "c-joiner-1-01234567", u); err != nil {
		t.Fatal(err)
	}
}

// When two posta deploy run at once, the engine creates the volume of a claim only once.
func TestClaims(t *testing.T) {
	f := newFake()
	e := f.open(t)
	claim := map[string]any{"Name": "c-deploy-lock-2", "CreatedAt": "2026-01-01T00:00:10Z",
		"Labels": map[string]string{labelLock: "c", labelNumber: "2", labelToken: "t", labelHolder: "ann", labelProcess: "p"}}
	f.answers["POST /volumes/create"] = says(http.StatusCreated, claim)
	got, err := e.Claim(t.Context(), "c", lock.Claim{Number: 2, Token: "mine"})
	if want := (lock.Claim{Number: 2, Token: "t", Holder: "ann", Process: "p"}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	f.answers["GET /info"] = says(http.StatusOK, map[string]any{"SystemTime": "2026-01-01T00:00:15.5Z"})
	f.answers["GET /volumes"] = says(http.StatusOK, map[string]any{
		"Volumes": []any{claim, map[string]any{"Name": "c-deploy-lock-x", "Labels": map[string]string{labelLock: "c", labelNumber: "3"}}}})
	all, err := e.Claims(t.Context(), "c")
	if err != nil || len(all) != 1 || all[0].Age != 5500*time.Millisecond || all[0].Holder != "ann" {
		t.Errorf("%+v, %v", all, err)
	}
	f.answers["POST /volumes/create"] = says(http.StatusCreated, map[string]any{"Name": "c-deploy-lock-2"})
	if _, err := e.Claim(t.Context(), "c", lock.Claim{Number: 2}); err == nil ||
		!strings.Contains(err.Error(), "docker volume rm c-deploy-lock-2") {
		t.Errorf("a stranger's volume: %v", err)
	}
}

// A deploy does not wait for ever for an engine that does not answer.
func TestACallEnds(t *testing.T) {
	f := newFake()
	e := f.open(t)
	hang := make(chan struct{})
	defer close(hang)
	f.answers["POST /containers/x/start"] = func(http.ResponseWriter, *http.Request) { <-hang }
	err := e.callFor(t.Context(), 50*time.Millisecond, "start x", func(ctx context.Context) error {
		return e.api.ContainerKill(ctx, "x", "TERM")
	})
	if err == nil {
		t.Fatal("there is no x")
	}
	err = e.callFor(t.Context(), 50*time.Millisecond, "start x", func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http"+strings.TrimPrefix(e.api.DaemonHost(),
			"tcp")+"/v"+MinVersion+"/containers/x/start", nil)
		if err != nil {
			return err
		}
		_, err = e.api.HTTPClient().Do(req)
		return err
	})
	if !OutcomeUnknown(err) || !strings.Contains(err.Error(), "host a: start x: its Docker Engine has not answered for 50ms") ||
		strings.Contains(err.Error(), "deadline") {
		t.Fatalf("%v", err)
	}
}

// A probe's container is removed by its label, not by its name alone.
func TestRunOnce_AStrangersContainerStays(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["GET /containers/c-probe-a/json"] = says(http.StatusOK,
		map[string]any{"Id": "1", "Config": map[string]any{"Labels": map[string]string{}}, "State": map[string]any{}})
	_, err := e.RunOnce(t.Context(), "c", "posta:sha-1", "probe", "room", "/")
	if err == nil || !strings.Contains(err.Error(), "a container called c-probe-a exists and does not belong to this cluster") {
		t.Error(err)
	}
	if slices.Contains(f.asked, "DELETE /containers/c-probe-a") {
		t.Error("it was removed")
	}
}

// The error about a container that does not run is a complete sentence, with and without log lines.
func TestExec_NotRunning(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["GET /containers/x/json"] = says(http.StatusOK, map[string]any{"Id": "1", "Config": map[string]any{},
		"State": map[string]any{"ExitCode": 3}})
	_, err := e.Exec(t.Context(), time.Second, "x", "/bin/posta", "probe", "beat")
	if !errors.Is(err, ErrNotRunning) || err.Error() != "host a: ask x (/bin/posta probe beat): it does not run (exit status 3)" {
		t.Error(err)
	}
}

// A port counts as free if a container of the cluster has it, because a medic may have started that container since the
// plan was made. A port of another program counts as taken.
func TestCheckPorts_OursByNow(t *testing.T) {
	f := newFake()
	e := f.open(t)
	ours := false
	f.answers["GET /containers/json"] = func(w http.ResponseWriter, r *http.Request) {
		all := []map[string]any{}
		if ours {
			all = append(all, map[string]any{"Id": "j"})
		}
		says(http.StatusOK, all)(w, r)
	}
	f.answers["GET /containers/j/json"] = says(http.StatusOK, map[string]any{"Id": "j", "Config": map[string]any{},
		"State":      map[string]any{"Running": true},
		"HostConfig": map[string]any{"PortBindings": map[string]any{"5504/tcp": []map[string]any{{"HostPort": "5504"}}}}})
	f.answers["POST /containers/create"] = says(http.StatusCreated, map[string]any{"Id": "p"})
	started := false
	f.answers["POST /containers/c-probe-a/start"] = func(w http.ResponseWriter, r *http.Request) {
		started = true
		says(http.StatusInternalServerError, map[string]string{"message": "port is already allocated"})(w, r)
	}
	ports := []plan.Port{{At: "127.0.0.1", Outside: 5504, Inside: 5504}}
	if err := e.CheckPorts(t.Context(), "c", "posta:sha-1", "net", ports); !errors.Is(err, errPortTaken) || !started {
		t.Errorf("a stranger's: %v", err)
	}
	f.answers["POST /containers/c-probe-a/start"] = func(w http.ResponseWriter, r *http.Request) {
		ours = true // the medic was faster than the probe
		says(http.StatusInternalServerError, map[string]string{"message": "port is already allocated"})(w, r)
	}
	if err := e.CheckPorts(t.Context(), "c", "posta:sha-1", "net", ports); err != nil {
		t.Errorf("ours: %v", err)
	}
}
