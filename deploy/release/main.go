// Command release writes the files of a release of Posta into a directory:
//
//	posta_VERSION_OS_ARCH.tar.gz   the program, completions, the manual page, topology.toml, README and licence
//	posta_VERSION_ARCH.deb, .rpm   the same for Debian's and Red Hat's families, on linux/amd64 and linux/arm64
//	posta_VERSION.cdx.json         what the program is made of: an SBOM in CycloneDX
//	SHA256SUMS                     of all of them, for sha256sum --check
//
// It is a module of its own, so that modules which only package Posta are not among Posta's own requirements. It makes no network calls:
// what go build needs must be in the module cache. Two runs on one commit give identical files: all times in them are the commit's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// maxProgram is the largest permitted size of a program in bytes: people fetch it over slow links, and a sudden growth means a new
// dependency that nobody has looked at. The largest is that for darwin/amd64, about 31.2 MB. The last 400 kB added no dependency: they are
// nodes within the process that asks, blocks of Parquet with a page index, and the best groups of aggregators.
const maxProgram = 31_500_000

// target is an operating system and a processor for which a program is made.
type target struct{ os, arch string }

// targets are the machines on which Posta runs, and macOS, for which it builds.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// release is a release that is being made.
type release struct {
	root    string // Posta's own directory
	out     string // directory for the files
	version string // as the program reports it, such as v0.3.0
	targets []target
	made    time.Time // the commit's time, which all files have
}

func main() {
	r := release{targets: targets}
	flag.StringVar(&r.root, "root", "../..", "`DIR` of Posta's sources")
	flag.StringVar(&r.out, "out", "../../dist", "`DIR` for the files; what it holds is replaced")
	flag.StringVar(&r.version, "version", "", "such as v0.3.0; what git calls this commit otherwise")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.make(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// make writes all files into a directory beside out, and then puts that directory in the place of out.
func (r *release) make(ctx context.Context) error {
	if err := r.commit(ctx); err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if err := replaceable(out); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(out), ".release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := os.Chmod(draft, 0o755); err != nil {
		return err
	}
	r.out = draft
	programs, err := os.MkdirTemp("", "posta-programs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	if err := r.pack(ctx, programs); err != nil {
		return err
	}
	if err := sums(draft); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(out), os.Rename(draft, out))
}

// replaceable refuses a directory that holds anything but a release: it will be removed.
func replaceable(out string) error {
	entries, err := os.ReadDir(out)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "posta_") && e.Name() != sumsFile {
			return fmt.Errorf("%s holds %s, which is not a file of a release; give -out a directory of its own", out, e.Name())
		}
	}
	return nil
}

var semantic = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+`)

// commit determines the version and the time of the commit.
func (r *release) commit(ctx context.Context) error {
	if r.version == "" {
		described, err := r.output(ctx, r.root, "git", "describe", "--tags", "--always", "--dirty")
		if err != nil {
			return fmt.Errorf("which version is it? git does not tell; give -version: %w", err)
		}
		r.version = described
		if !semantic.MatchString(described) { // no tag so far
			r.version = "v0.0.0-" + described
		}
	}
	if !semantic.MatchString(r.version) {
		return fmt.Errorf("-version %s is not a version; write one like v0.3.0 or v0.3.0-rc.1", r.version)
	}
	at, err := r.output(ctx, r.root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return fmt.Errorf("when was the commit made: %w", err)
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fmt.Errorf("when was the commit made: %w", err)
	}
	r.made = time.Unix(seconds, 0).UTC()
	return nil
}

// pack makes programs, packages and the SBOM.
func (r *release) pack(ctx context.Context, dir string) error {
	native, err := r.program(ctx, dir, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return err
	}
	extras, err := r.extras(ctx, native)
	if err != nil {
		return err
	}
	if err := r.bill(native); err != nil {
		return err
	}
	for _, t := range r.targets {
		program, err := r.program(ctx, dir, t)
		if err != nil {
			return err
		}
		if err := r.tarball(t, program, extras); err != nil {
			return err
		}
		if t.os != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.system(format, t, program, extras); err != nil {
				return err
			}
		}
	}
	return nil
}

// program builds a static program, or finds one that is built already. The build tag leaves out the code that turns a command's help into
// Markdown, a hundredth of the program; Posta writes its manual itself.
func (r *release) program(ctx context.Context, dir string, t target) (string, error) {
	path := filepath.Join(dir, t.os+"_"+t.arch)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "urfave_cli_no_docs", "-trimpath", "-ldflags", "-s -w -X main.release="+r.version,
		"-o", path, ".")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for %s/%s: %w\n%s", t.os, t.arch, err, said)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() >= maxProgram {
		return "", fmt.Errorf("the program for %s/%s has %d bytes, and at most %d are wanted; which dependency came in?", t.os, t.arch,
			info.Size(), maxProgram)
	}
	return path, nil
}

// output runs a command in dir and returns what it prints, without surrounding white space.
func (r *release) output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
