package brokers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// rivals is the module of the programs that Posta is compared with, seen from the folder that holds Posta.
var rivals = filepath.Join("bench", "rivals")

// ErrNoSource is wrapped by the error of [Build] in another folder than the one that holds Posta.
var ErrNoSource = errors.New("its source is not here; run this in the folder that holds Posta")

// Build compiles a program of bench/rivals into the file target. root is the folder that holds Posta.
func Build(ctx context.Context, root, name, target string) error {
	source := filepath.Join(root, rivals)
	if _, err := os.Stat(filepath.Join(source, "go.mod")); err != nil {
		return ErrNoSource
	}
	// The module's requirements follow Posta's, which may have moved on: a copy is brought up to date, the source stays as it is.
	mod := target + ".mod"
	for from, to := range map[string]string{"go.mod": mod, "go.sum": target + ".sum"} {
		b, err := os.ReadFile(filepath.Join(source, from))
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if err != nil {
			return err
		}
	}
	needs, cgo := "Go is", "CGO_ENABLED=0"
	if strings.HasPrefix(name, "duckdb") { // a C++ library
		needs, cgo = "Go and g++ are", "CGO_ENABLED=1"
	}
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-modfile="+mod, "-o", target, "./"+name)
	build.Dir = source
	build.Env = append(os.Environ(), cgo)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("it cannot be built (%s needed): %w: %s", needs, err, bytes.TrimSpace(out))
	}
	return nil
}
