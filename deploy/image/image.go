package image

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"posta.dev/posta/topology"
)

var (
	// ErrNotStatic is wrapped when a program needs libraries that an image of one file does not have.
	ErrNotStatic = errors.New("the program is not static")
	// ErrNoProgram is wrapped when a file is not a program for Linux.
	ErrNoProgram = errors.New("no program for Linux")
)

// Repository is the repository of all images; the tag is made of the digest, so that a reference never means two images.
const Repository = "posta"

// Ref returns the reference of the image with a digest in hex, with or without "sha256:".
func Ref(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return Repository + ":sha-" + digest[:min(len(digest), 12)]
}

// Image is an image that is ready to be written. The program's file must not change until then.
type Image struct {
	Ref  string
	Arch string // as GOARCH
	Size int64  // the bytes that WriteTo writes

	program  string
	size     int64 // of the program
	config   []byte
	manifest []byte
	configID string
}

// FromProgram makes an image of a static program for Linux.
func FromProgram(file, version string) (m *Image, err error) {
	defer func() {
		if err != nil {
			m, err = nil, fmt.Errorf("make an image of %s: %w", file, err)
		}
	}()
	arch, err := inspect(file)
	if err != nil {
		return nil, err
	}
	m = &Image{Arch: arch, program: file}
	h := sha256.New()
	if err := m.layer(h); err != nil {
		return nil, err
	}
	if m.config, err = json.Marshal(configOf(arch, version, "sha256:"+hex.EncodeToString(h.Sum(nil)))); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(m.config)
	m.configID = hex.EncodeToString(sum[:])
	m.Ref = Ref(m.configID)
	m.manifest, err = json.Marshal([]map[string]any{{"Config": m.configID + ".json", "RepoTags": []string{m.Ref},
		"Layers": []string{"layer.tar"}}})
	if err != nil {
		return nil, err
	}
	m.Size, err = m.WriteTo(io.Discard)
	return m, err
}

func configOf(arch, version, layer string) map[string]any {
	return map[string]any{
		"architecture": arch, "os": "linux", "created": epoch.Format(time.RFC3339),
		"config": map[string]any{
			"Entrypoint": []string{"/bin/posta"}, "WorkingDir": "/posta", "Env": []string{"PATH=/bin"}, "User": topology.NodeUser,
			"Labels": map[string]string{"org.opencontainers.image.title": "posta", "org.opencontainers.image.version": version},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{layer}},
		"history": []map[string]any{{"created": epoch.Format(time.RFC3339), "created_by": "posta deploy"}},
	}
}

// epoch is the time of everything in an image, so that the same program gives the same image.
var epoch = time.Unix(0, 0).UTC()

// layer writes the image's only layer.
func (m *Image) layer(w io.Writer) error {
	f, err := os.Open(m.program)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m.size = info.Size()
	t := tar.NewWriter(w)
	for _, dir := range []string{"bin/", "posta/"} {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: epoch, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bin/posta", Mode: 0o755, Size: m.size, ModTime: epoch,
		Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	if _, err := io.Copy(t, f); err != nil {
		return err
	}
	return t.Close()
}

// WriteTo writes the image as docker load takes it.
func (m *Image) WriteTo(w io.Writer) (int64, error) {
	n := &counting{w: w}
	t := tar.NewWriter(n)
	size := &counting{w: io.Discard}
	if err := m.layer(size); err != nil {
		return 0, err
	}
	file := func(name string, size int64, content func(io.Writer) error) error {
		err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: epoch, Format: tar.FormatUSTAR})
		if err != nil {
			return err
		}
		return content(t)
	}
	bytesOf := func(b []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(b); return err }
	}
	err := errors.Join(
		file(m.configID+".json", int64(len(m.config)), bytesOf(m.config)),
		file("layer.tar", size.n, m.layer),
		file("manifest.json", int64(len(m.manifest)), bytesOf(m.manifest)),
		t.Close())
	return n.n, err
}

// counting counts what is written.
type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
