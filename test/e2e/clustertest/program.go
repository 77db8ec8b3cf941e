package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build compiles the program of the module at root into a file. Two releases differ only in the version that they
// report.
func Build(root, file, release string) error {
	compile := exec.Command("go", "build", "-ldflags", "-X main.release="+release, "-o", file, root)
	compile.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := compile.CombinedOutput(); err != nil {
		return fmt.Errorf("build posta: %w: %s", err, out)
	}
	return nil
}

// ImageContext puts into dir what `make image` makes an image from: the Dockerfile of the module at root, and bin/posta, whose path it
// returns.
func ImageContext(root, dir string) (posta string, err error) {
	posta = filepath.Join(dir, "bin", "posta")
	if err := Build(root, posta, ""); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		return "", fmt.Errorf("copy the Dockerfile: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), text, 0o600); err != nil {
		return "", fmt.Errorf("copy the Dockerfile: %w", err)
	}
	return posta, nil
}
