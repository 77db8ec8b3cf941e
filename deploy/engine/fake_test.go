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
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// TestMain is also the program that a test calls ssh: it joins its standard input and output to the socket that the environment names.
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

// fake is an engine that answers what it is told to, and remembers what it was asked.
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
	if !errors.Is(err, ErrTooOld) || !strings.Contains(err.Error(), "host a") {
		t.Fatal(err)
	}
}

func TestAnEngineThatIsNotThere(t *testing.T) {
	_, err := Open(t.Context(), "a", topology.Deploy{Engine: "unix://" + filepath.Join(t.TempDir(), "none.sock")})
	if err == nil || !OutcomeUnknown(err) {
		t.Fatalf("%v", err)
	}
}

// Through the ssh program: what it is told, and what comes back when it fails.
func TestOverSSH(t *testing.T) {
	dir, err := os.MkdirTemp("", "posta-ssh") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake()
	f.answers["GET /info"] = says(http.StatusOK, map[string]any{"ID": "E1", "OSType": "linux", "Architecture": "aarch64", "SystemTime": time.Now().Add(time.Hour).Format(time.RFC3339Nano)})
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
	if err != nil || !strings.Contains(string(args), "-l ops -p 2222 -- b.example docker system dial-stdio") || !strings.Contains(string(args), "BatchMode=yes") {
		t.Fatalf("%v: ssh was called with %s", err, args)
	}
	t.Setenv("POSTA_TEST_SSH_TO", "nowhere")
	if _, err := Open(t.Context(), "b", topology.Deploy{Engine: "ssh://ops@b.example"}); err == nil || !strings.Contains(err.Error(), "Connection refused") {
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

// A container that a lost answer left behind is the one that was wanted; another's is not touched.
func TestCreate_WhatIsThereAlready(t *testing.T) {
	f := newFake()
	e := f.open(t)
	u := &plan.Unit{Name: "joiner-1", Hash: "0123456789", Spec: plan.Spec{Image: "posta:sha-1", Labels: map[string]string{"posta.cluster": "c"}}}
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

// What is to be gone, and is, is no error; what is to run and is not there is one.
func TestWhatIsGone(t *testing.T) {
	e := newFake().open(t)
	ctx := t.Context()
	for what, err := range map[string]error{
		"stop": e.Stop(ctx, "x", time.Second), "remove": e.Remove(ctx, "x"), "volume": e.DeleteVolume(ctx, "x"), "network": e.RemoveNetwork(ctx, "x"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := e.Start(ctx, "x"); err == nil || OutcomeUnknown(err) {
		t.Errorf("start: %v", err)
	}
	if _, err := e.Exec(ctx, "x", "true"); err == nil {
		t.Error("a container that is not there answers")
	}
}

func TestMakeVolume_OfSomebodyElse(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["POST /volumes/create"] = says(http.StatusCreated, map[string]any{"Name": "v", "Labels": map[string]string{"posta.cluster": "other"}})
	if err := e.CreateVolume(t.Context(), "v", map[string]string{"posta.cluster": "c"}); err == nil || !strings.Contains(err.Error(), "none of this cluster's") {
		t.Fatal(err)
	}
}

// A volume that was made for a copy is partial until something says otherwise.
func TestVolumes_Partial(t *testing.T) {
	f := newFake()
	e := f.open(t)
	f.answers["GET /volumes"] = says(http.StatusOK, map[string]any{"Volumes": []map[string]any{
		{"Name": "c-joiner-1", "Labels": map[string]string{"posta.cluster": "c", "posta.node": "joiner-1", plan.LabelArriving: "yes"}}}})
	arrived := []map[string]any{}
	f.answers["GET /containers/json"] = func(w http.ResponseWriter, r *http.Request) { says(http.StatusOK, arrived)(w, r) }
	f.answers["GET /containers/n/json"] = says(http.StatusOK, map[string]any{"Id": "n", "Config": map[string]any{"Labels": map[string]string{plan.LabelArrived: "c-joiner-1"}}, "State": map[string]any{}})
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

// An engine that says nothing does not hold a deploy up for ever.
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
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http"+strings.TrimPrefix(e.api.DaemonHost(), "tcp")+"/v"+MinVersion+"/containers/x/start", nil)
		if err != nil {
			return err
		}
		_, err = e.api.HTTPClient().Do(req)
		return err
	})
	if !OutcomeUnknown(err) {
		t.Fatalf("%v", err)
	}
}
