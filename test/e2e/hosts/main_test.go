//go:build docker && linux

package hosts

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
)

var (
	rows   = flag.Int("rows", 1000000, "trips in TestLatency")
	rounds = flag.Int("rounds", 3, "rounds of TestLatency")
	reno   = flag.Bool("reno", false, "TestLatency with a TCP that takes loss for a full line, as well")
)

// posta is the program, and imageContext the directory with it and the Dockerfile.
var posta, imageContext string

func TestMain(m *testing.M) {
	flag.Parse()
	if err := rack.Main(); err != nil {
		log.Fatal(err)
	}
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	defer func() {
		if err := rack.Leave(); err != nil {
			log.Print(err)
			code = 1
		}
	}()
	dir, err := os.MkdirTemp("", fmt.Sprintf("posta-hosts-%d-build-", os.Getpid()))
	if err != nil {
		log.Print(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	imageContext = dir
	if posta, err = clustertest.ImageContext(filepath.Join("..", "..", ".."), dir); err != nil {
		log.Print(err)
		return 1
	}
	code = m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		log.Print(err)
		return 1
	}
	return code
}

// image is built on the first host, which needs nothing but the program for it.
func image(t *testing.T, h *rack.Host, name, version string) {
	t.Helper()
	if _, err := h.Docker("build", "-q", "-t", name, "--build-arg", "VERSION="+version, imageContext); err != nil {
		t.Fatal(err)
	}
}
