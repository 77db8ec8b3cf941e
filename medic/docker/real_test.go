//go:build docker

// These run against a real engine: go test -tags docker ./medic/docker. Everything that they create carries the label
// posta.cluster=posta-test-PID and is removed, also what an earlier run has left behind.

package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/network"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

const prefix = "posta-test-"

// real is a cluster in a real engine.
type real struct {
	*Restarter
	t       *testing.T
	image   string
	network string
}

func newReal(t *testing.T) *real {
	t.Helper()
	name := fmt.Sprintf("%s%d", prefix, os.Getpid())
	r, err := New(Config{Cluster: name, Call: 20 * time.Second}) // a shared machine is slow
	must(t, err)
	x := &real{Restarter: r, t: t, image: name + ":x", network: name}
	must(t, r.engine.do(context.Background(), "look for the engine", func(context.Context) error { return nil }))
	x.sweep()
	t.Cleanup(func() {
		x.sweep()
		must(t, r.Close())
	})
	x.importImage()
	_, err = r.engine.api.NetworkCreate(await.Soon(t), x.network, network.CreateOptions{Labels: map[string]string{LabelCluster: name}})
	must(t, err)
	return x
}

// sweep removes what this test, or one that was killed, has made.
func (x *real) sweep() {
	ctx := context.Background()
	mine := func(labels map[string]string) bool { return strings.HasPrefix(labels[LabelCluster], prefix) }
	by := filters.NewArgs(filters.Arg("label", LabelCluster))
	all, err := x.engine.api.ContainerList(ctx, container.ListOptions{All: true, Filters: by})
	must(x.t, err)
	for _, c := range all {
		if mine(c.Labels) {
			must(x.t, x.engine.api.ContainerRemove(ctx, c.ID, container.RemoveOptions{Force: true}))
		}
	}
	networks, err := x.engine.api.NetworkList(ctx, network.ListOptions{Filters: by})
	must(x.t, err)
	for _, n := range networks {
		if mine(n.Labels) {
			must(x.t, x.engine.api.NetworkRemove(ctx, n.ID))
		}
	}
	images, err := x.engine.api.ImageList(ctx, image.ListOptions{})
	must(x.t, err)
	for _, i := range images {
		if slices.ContainsFunc(i.RepoTags, func(tag string) bool { return strings.HasPrefix(tag, prefix) }) {
			_, err := x.engine.api.ImageRemove(ctx, i.ID, image.RemoveOptions{Force: true, PruneChildren: true})
			must(x.t, err)
		}
	}
}

// importImage makes an image that holds this test and nothing else: no image can be pulled where it runs.
func (x *real) importImage() {
	program := filepath.Join(x.t.TempDir(), "program")
	build := exec.Command("go", "test", "-c", "-tags", "docker", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		x.t.Fatalf("build the static program: %v\n%s", err, out)
	}
	text, err := os.ReadFile(program)
	must(x.t, err)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	must(x.t, w.WriteHeader(&tar.Header{Name: "program", Mode: 0o755, Size: int64(len(text))}))
	_, err = w.Write(text)
	must(x.t, err)
	must(x.t, w.Close())
	answer, err := x.engine.api.ImageImport(await.Soon(x.t), image.ImportSource{Source: &b, SourceName: "-"}, x.image,
		image.ImportOptions{Changes: []string{`ENTRYPOINT ["/program"]`}})
	must(x.t, err)
	var said bytes.Buffer
	_, err = said.ReadFrom(answer)
	must(x.t, errors.Join(err, answer.Close()))
}

// has creates a container as compose does, and does not start it.
func (x *real) has(node medic.NodeID, role string) string {
	x.t.Helper()
	made, err := x.engine.api.ContainerCreate(await.Soon(x.t),
		&container.Config{Image: x.image, Env: []string{roleVar + "=" + role},
			Labels: map[string]string{LabelCluster: x.cfg.Cluster, LabelNode: string(node)}},
		&container.HostConfig{NetworkMode: container.NetworkMode(x.network)},
		&network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{x.network: {Aliases: []string{string(node)}}}},
		nil, x.cfg.Cluster+"_"+string(node)+"_1")
	must(x.t, err)
	return made.ID
}

func (x *real) isAlive(node medic.NodeID) bool {
	x.t.Helper()
	alive, err := x.Alive(await.Soon(x.t), node)
	must(x.t, err)
	return alive
}

func (x *real) ends(node medic.NodeID) string {
	x.t.Helper()
	death, err := x.Wait(await.Soon(x.t), node)
	must(x.t, err)
	return death.Cause
}

// log returns the output of a container.
func (x *real) log(id string) string {
	x.t.Helper()
	r, err := x.engine.api.ContainerLogs(await.Soon(x.t), id, container.LogsOptions{ShowStdout: true})
	must(x.t, err)
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	must(x.t, errors.Join(err, r.Close()))
	return b.String()
}

func TestRealEngine(t *testing.T) {
	x := newReal(t)
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() { defer close(watched); x.Watch(ctx) }()
	defer func() { cancel(); <-watched }()

	id := x.has("a-1", "polite")
	if x.isAlive("a-1") || x.ends("a-1") != "" {
		t.Error("a container that was never started lives, or has died")
	}
	must(t, x.Start(await.Soon(t), "a-1"))
	if err := x.Start(await.Soon(t), "a-1"); !errors.Is(err, medic.ErrRunning) {
		t.Errorf("a second start: %v", err)
	}
	first, err := x.Pid("a-1")
	must(t, err)
	sees(t, x.Restarter, "a-1", func() int { return first })

	t.Run("terminate", func(t *testing.T) {
		await.Until(t, "it listens to signals", func() bool { return strings.Contains(x.log(id), "ready") })
		must(t, x.Terminate(await.Soon(t), "a-1"))
		if cause := x.ends("a-1"); cause != "exit status 0" {
			t.Errorf("it ended with %q", cause)
		}
		sees(t, x.Restarter, "a-1", func() int { return 0 })
	})
	t.Run("kill, hung or paused", func(t *testing.T) {
		for _, before := range []func() error{
			func() error { return nil },
			func() error { return x.Signal(await.Soon(t), "a-1", "SIGSTOP") },
			func() error { return x.engine.api.ContainerPause(await.Soon(t), id) },
		} {
			must(t, x.Start(await.Soon(t), "a-1"))
			pid, err := x.Pid("a-1")
			must(t, err)
			if pid == 0 || pid == first {
				t.Errorf("process %d after %d", pid, first)
			}
			must(t, before())
			must(t, x.Kill(await.Soon(t), "a-1"))
			if cause := x.ends("a-1"); x.isAlive("a-1") || cause != "signal: killed" {
				t.Errorf("alive: %v; it ended with %q", x.isAlive("a-1"), cause)
			}
			must(t, x.Kill(await.Soon(t), "a-1"))
			must(t, x.Terminate(await.Soon(t), "a-1"))
		}
	})
	t.Run("a life that ends by itself", func(t *testing.T) {
		x.has("b-1", "brief")
		must(t, x.Start(await.Soon(t), "b-1"))
		if cause := x.ends("b-1"); cause != "exit status 3" {
			t.Errorf("it ended with %q", cause)
		}
	})
	t.Run("cut off", func(t *testing.T) {
		must(t, x.Start(await.Soon(t), "a-1"))
		if did, err := x.Detach(await.Soon(t), "a-1"); !did || err != nil {
			t.Fatalf("cut off: %v, %v", did, err)
		}
		must(t, x.Kill(await.Soon(t), "a-1"))
		must(t, x.Start(await.Soon(t), "a-1"))
		x.has("c-1", "a-1") // looks a-1 up
		must(t, x.Start(await.Soon(t), "c-1"))
		if cause := x.ends("c-1"); cause != "exit status 0" {
			t.Errorf("after it was cut off and restarted nobody finds it: %q", cause)
		}
	})
	t.Run("removed", func(t *testing.T) {
		must(t, x.engine.api.ContainerRemove(await.Soon(t), id, container.RemoveOptions{Force: true}))
		must(t, x.Kill(await.Soon(t), "a-1"))
		if err := x.Start(await.Soon(t), "a-1"); !errors.Is(err, ErrNoContainer) {
			t.Errorf("a start without a container: %v", err)
		}
		x.has("a-2", "polite")
		all, err := x.list(await.Soon(t))
		of := func(node string) bool {
			return slices.ContainsFunc(all, func(c container.Summary) bool { return c.Labels[LabelNode] == node })
		}
		if err != nil || !of("a-2") || of("a-1") {
			t.Errorf("containers: %v, %v", all, err)
		}
	})
}
