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

// rivals is the folder, relative to the root of Posta's source, of the module with the programs that Posta is compared
// with.
var rivals = filepath.Join("bench", "rivals")

// ErrNoSource reports that root is not the root of Posta's source. [Build] wraps it.
var ErrNoSource = errors.New("its source is not here; run this in the folder that holds Posta")

// Build compiles a program of bench/rivals into the file target. root is the root of Posta's source.
func Build(ctx context.Context, root, name, target string) error {
	source := filepath.Join(root, rivals)
	if _, err := os.Stat(filepath.Join(source, "go.mod")); err != nil {
		return ErrNoSource
	}
	// The rivals' go.mod may lag behind Posta's. Build updates a copy of it and leaves the source as it is.
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
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-modfile="+mod, "-o", target, "./"+name)
	build.Dir = source
	needs := "Go is"
	if strings.HasPrefix(name, "duckdb") { // it needs a C++ library
		needs, build.Env = "Go and g++ are", append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("it cannot be built (%s needed): %w: %s", needs, err, bytes.TrimSpace(out))
	}
	return nil
}
