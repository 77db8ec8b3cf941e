package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers its format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers its format
)

// sumsFile is what sha256sum --check reads.
const sumsFile = "SHA256SUMS"

// extra is a file beside the program.
type extra struct {
	inTar string // its name in the tar file
	// Paths in the packages of each family; "": the family's package does not contain it.
	inDeb, inRPM string
	data         []byte
}

// extras are the same for all targets: they come from the program itself and from Posta's directory.
func (r *release) extras(ctx context.Context, native string) ([]extra, error) {
	const doc = "/usr/share/doc/posta/"
	all := []extra{
		{inTar: "LICENSE", inDeb: doc + "copyright", inRPM: "/usr/share/licenses/posta/LICENSE"},
		{inTar: "README.md", inDeb: doc + "README.md", inRPM: doc + "README.md"},
		{inTar: "topology.toml", inDeb: doc + "topology.toml", inRPM: doc + "topology.toml"},
	}
	for i := range all {
		data, err := os.ReadFile(filepath.Join(r.root, all[i].inTar))
		if err != nil {
			return nil, err
		}
		all[i].data = data
	}
	for _, said := range []struct {
		args []string
		file extra
	}{
		{[]string{"completion", "bash"}, extra{inTar: "completions/posta.bash", inDeb: "/usr/share/bash-completion/completions/posta",
			inRPM: "/usr/share/bash-completion/completions/posta"}},
		{[]string{"completion", "fish"}, extra{inTar: "completions/posta.fish", inDeb: "/usr/share/fish/vendor_completions.d/posta.fish",
			inRPM: "/usr/share/fish/vendor_completions.d/posta.fish"}},
		{[]string{"completion", "zsh"}, extra{inTar: "completions/_posta", inDeb: "/usr/share/zsh/vendor-completions/_posta",
			inRPM: "/usr/share/zsh/site-functions/_posta"}},
		{[]string{"man"}, extra{inTar: "man/posta.1"}},
	} {
		text, err := r.output(ctx, r.root, native, said.args...)
		if err != nil {
			return nil, err
		}
		said.file.data = []byte(text + "\n")
		all = append(all, said.file)
	}
	packed, err := gzipped(all[len(all)-1].data, r.made)
	if err != nil {
		return nil, err
	}
	const man = "/usr/share/man/man1/posta.1.gz"
	return append(all, extra{inDeb: man, inRPM: man, data: packed}), nil
}

func gzipped(data []byte, made time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	z.ModTime = made
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// tarball writes posta_VERSION_OS_ARCH.tar.gz, whose files are in a directory of that name.
func (r *release) tarball(t target, program string, extras []extra) error {
	name := fmt.Sprintf("posta_%s_%s_%s", r.number(), t.os, t.arch)
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(file string, mode int64, data []byte) error {
		h := &tar.Header{Name: path.Join(name, file), Mode: mode, Size: int64(len(data)), ModTime: r.made, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	if err := add("posta", 0o755, data); err != nil {
		return err
	}
	for _, e := range extras {
		if e.inTar == "" {
			continue
		}
		if err := add(e.inTar, 0o644, e.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	packed, err := gzipped(b.Bytes(), r.made)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, name+".tar.gz"), packed, 0o644)
}

// number is the version without the v, as packages write it.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// system writes a package for a family of systems: deb or rpm.
func (r *release) system(format string, t target, program string, extras []extra) error {
	dir, err := os.MkdirTemp("", "posta-package")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	info := func(mode os.FileMode) *files.ContentFileInfo {
		return &files.ContentFileInfo{Mode: mode, MTime: r.made, Owner: "root", Group: "root"}
	}
	contents := files.Contents{{Source: program, Destination: "/usr/bin/posta", FileInfo: info(0o755)}}
	for i, e := range extras {
		to := e.inDeb
		if format == "rpm" {
			to = e.inRPM
		}
		if to == "" {
			continue
		}
		from := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(from, e.data, 0o644); err != nil {
			return err
		}
		contents = append(contents, &files.Content{Source: from, Destination: to, FileInfo: info(0o644)})
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	p := nfpm.WithDefaults(&nfpm.Info{
		Name: "posta", Arch: t.arch, Platform: t.os, Version: r.version, Section: "utils", License: "Apache-2.0",
		Maintainer: "The Posta maintainers <maintainers@posta.dev>", MTime: r.made,
		Description: "exactly-once analyses of large record streams without a broker\nFour analyses and any question in SQL over files of " +
			"any size, on several processes\nand hosts. Every record counts exactly once, whatever is killed on the way.",
		Overridables: nfpm.Overridables{Contents: contents, RPM: nfpm.RPM{BuildHost: "posta"}},
	})
	if err := nfpm.PrepareForPackager(p, format); err != nil {
		return fmt.Errorf("%s for %s: %w", format, t.arch, err)
	}
	f, err := os.Create(filepath.Join(r.out, fmt.Sprintf("posta_%s_%s.%s", r.number(), t.arch, format)))
	if err != nil {
		return err
	}
	if err := packager.Package(p, f); err != nil {
		_ = f.Close()
		return fmt.Errorf("%s for %s: %w", format, t.arch, err)
	}
	return f.Close()
}

// sums writes the checksums of all files in dir.
func sums(dir string) error {
	entries, err := os.ReadDir(dir) // in order of names
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := sum(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(b.String()), 0o644)
}

func sum(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
