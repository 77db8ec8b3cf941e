package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// program builds a program: a static one without cgo.
func program(t *testing.T, text, arch string) string {
	t.Helper()
	dir := t.TempDir()
	source, file := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte("package main\nfunc main() { println(\""+text+"\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "build", "-trimpath", "-o", file, source)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

func archive(t *testing.T, m *Image) map[string][]byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := m.WriteTo(&b); err != nil || n != m.Size || int64(b.Len()) != m.Size {
		t.Fatalf("%d bytes said, %d written, %d there: %v", m.Size, n, b.Len(), err)
	}
	return untar(t, b.Bytes())
}

func untar(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	files, r := map[string][]byte{}, tar.NewReader(bytes.NewReader(b))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// What docker load takes: a manifest that names a configuration, which names a layer by its digest, which holds the program.
func TestAnImageIsItsProgram(t *testing.T) {
	file := program(t, "one", "arm64")
	m, err := FromProgram(file, "v1")
	if err != nil {
		t.Fatal(err)
	}
	files := archive(t, m)
	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	var config struct {
		Architecture, OS string
		Rootfs           struct {
			DiffIDs []string `json:"diff_ids"`
		}
		Config struct{ Entrypoint []string }
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil || len(manifest) != 1 {
		t.Fatalf("%v: %s", err, files["manifest.json"])
	}
	if err := json.Unmarshal(files[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	sum, layer := sha256.Sum256(files[manifest[0].Config]), sha256.Sum256(files[manifest[0].Layers[0]])
	if manifest[0].Config != hex.EncodeToString(sum[:])+".json" || m.Ref != Ref("sha256:"+hex.EncodeToString(sum[:])) ||
		manifest[0].RepoTags[0] != m.Ref {
		t.Fatalf("image %s has the manifest %+v", m.Ref, manifest[0])
	}
	if config.Rootfs.DiffIDs[0] != "sha256:"+hex.EncodeToString(layer[:]) || config.Architecture != "arm64" || m.Arch != "arm64" ||
		config.Config.Entrypoint[0] != "/bin/posta" {
		t.Fatalf("%+v", config)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := untar(t, files["layer.tar"]); !bytes.Equal(got["bin/posta"], want) || len(got) != 3 {
		t.Fatalf("the layer has %d files", len(got))
	}
}

func TestTheSameProgramIsTheSameImage(t *testing.T) {
	one, err := FromProgram(program(t, "one", runtime.GOARCH), "v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, version string
		same          bool
	}{{"one", "v1", true}, {"two", "v1", false}, {"one", "v2", false}} {
		m, err := FromProgram(program(t, c.text, runtime.GOARCH), c.version)
		if err != nil {
			t.Fatal(err)
		}
		if (m.Ref == one.Ref) != c.same {
			t.Errorf("program %s of %s is image %s, and one of v1 is %s", c.text, c.version, m.Ref, one.Ref)
		}
	}
}

func TestWhatIsNoStaticProgramIsRefused(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := FromProgram(text, ""); !errors.Is(err, ErrNoProgram) {
		t.Errorf("a script: %v", err)
	}
	if _, err := FromProgram(filepath.Join(t.TempDir(), "none"), ""); !errors.Is(err, ErrNoProgram) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
	if sh, err := exec.LookPath("sh"); err == nil { // as a rule it has an interpreter
		if _, err := FromProgram(sh, ""); err != nil && !errors.Is(err, ErrNotStatic) {
			t.Errorf("a program with libraries: %v", err)
		}
	}
}
