//go:build docker

package engine

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"posta.dev/posta/deploy/image"
	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// Data that moves to another host arrives unchanged: names, bytes, empty directories. Only then does the volume count
// as complete.
func TestCopyVolume(t *testing.T) {
	ctx := t.Context()
	e, err := Open(ctx, "here", topology.Deploy{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	cluster := fmt.Sprintf("posta-ct-%d", os.Getpid())
	ref := load(t, e)
	from, to := cluster+"-from", cluster+"-to"
	for _, v := range []string{from, to} {
		defer func() {
			if err := e.DeleteVolume(ctx, cluster, v); err != nil {
				t.Error(err)
			}
		}()
	}
	labels := map[string]string{topology.LabelCluster: cluster, topology.LabelNode: "joiner-1"}
	if err := e.CreateVolume(ctx, from, labels); err != nil {
		t.Fatal(err)
	}
	labels[plan.LabelArriving] = "yes"
	if err := e.CreateVolume(ctx, to, labels); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"joiner-1.log/000001": string(bytes.Repeat([]byte("record"), 100_000)), "head": "1", "empty/": ""}
	write(t, e, cluster, ref, from, files)
	if partial(t, e, cluster, to) != true {
		t.Fatal("a volume is whole before anything was copied")
	}
	moved := 0
	if err := e.copyVolume(ctx, cluster, to, ref, e, from, ref, func(n int) { moved += n }); err != nil {
		t.Fatal(err)
	}
	if partial(t, e, cluster, to) {
		t.Fatal("a volume is not whole after all was copied")
	}
	if got := read(t, e, cluster, ref, to); fmt.Sprint(got) != fmt.Sprint(files) || moved < 600_000 {
		t.Fatalf("%d files came, of %d; %d bytes", len(got), len(files), moved)
	}
	if o := (plan.Engine{}); e.containers(ctx, cluster, &o) != nil || len(o.Helpers) != 0 {
		t.Fatalf("left behind: %v", o.Helpers)
	}
}

func load(t *testing.T, e *Engine) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "posta")
	c := exec.Command("go", "build", "-ldflags", "-X main.release=posta-ct", "-o", program, filepath.Join("..", ".."))
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m, err := image.FromProgram(program, "posta-ct")
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	go func() { _, err := m.WriteTo(w); _ = w.CloseWithError(err) }()
	if err := e.Load(t.Context(), m.Ref, r, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", m.Ref).Run() })
	if out, err := e.RunOnce(t.Context(), "posta-ct", m.Ref, "probe", "room", "/"); err != nil ||
		!bytes.Contains([]byte(out), []byte("free")) {
		t.Fatalf("the image runs, and says %q, %v", out, err)
	}
	return m.Ref
}

func write(t *testing.T, e *Engine, cluster, ref, volume string, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range []string{"joiner-1.log/", "empty/"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: time.Unix(1, 0)})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := e.helper(t.Context(), cluster, ref, volume, "test")
	if err == nil {
		err = errors.Join(e.api.CopyToContainer(t.Context(), c, mountPoint, &b, container.CopyToContainerOptions{}), e.Remove(t.Context(), c))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, e *Engine, cluster, ref, volume string) map[string]string {
	t.Helper()
	c, err := e.helper(t.Context(), cluster, ref, volume, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Remove(t.Context(), c) }()
	r, _, err := e.api.CopyFromContainer(t.Context(), c, mountPoint)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	files, in := map[string]string{}, tar.NewReader(r)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel("carried", h.Name)
		if h.Typeflag == tar.TypeDir {
			name += "/"
		}
		if name != "./" && name != "joiner-1.log/" {
			files[name] = string(text)
		}
	}
}

func partial(t *testing.T, e *Engine, cluster, volume string) bool {
	t.Helper()
	o := plan.Engine{}
	if err := e.volumes(t.Context(), cluster, &o); err != nil {
		t.Fatal(err)
	}
	for _, v := range o.Volumes {
		if v.Name == volume {
			return v.Partial
		}
	}
	t.Fatalf("there is no volume %s", volume)
	return false
}
