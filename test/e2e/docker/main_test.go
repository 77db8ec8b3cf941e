//go:build docker

package docker

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/test/e2e/clustertest"
)

var (
	kills     = flag.Int("kills", 1, "kills of each kind of node in TestRecoveryTable; 30 give figures that mean something")
	chaosTime = flag.Duration("chaos", 0, "how long TestChaos continues; 0 for some seconds")
)

// prefix begins the names of all projects, images and directories of these tests. Behind it is the process that made them.
const prefix = "posta-e2e-"

// temporary is a short path, because sockets are made below it, and one that the engine sees as well.
const temporary = "/tmp"

// image is what all containers are made from, and posta the program in it.
var (
	image string
	posta string
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	sweep()
	image = fmt.Sprintf("%s%d", prefix, os.Getpid())
	dir := filepath.Join(temporary, image)
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(dir); err != nil {
		log.Print(err)
		return 1
	}
	defer func() { _, _ = clustertest.Command("docker", "rmi", "-f", image) }()
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		log.Print(err)
		return 1
	}
	return code
}

// build makes the image as `make image` does, in a directory of its own.
func build(dir string) (err error) {
	if posta, err = clustertest.ImageContext(filepath.Join("..", "..", ".."), dir); err != nil {
		return err
	}
	_, err = clustertest.Command("docker", "build", "-q", "-t", image, dir)
	return err
}

// sweep removes what runs that were killed have left behind; containers first, because they hold the others.
func sweep() {
	const project = "com.docker.compose.project"
	for _, k := range []struct{ list, remove []string }{
		{[]string{"ps", "-a", "--format", `{{.ID}} {{.Label "` + project + `"}}`, "-f", "label=" + project}, []string{"rm", "-f"}},
		{[]string{"volume", "ls", "--format", `{{.Name}} {{.Label "` + project + `"}}`, "-f", "label=" + project}, []string{"volume", "rm"}},
		{[]string{"network", "ls", "--format", `{{.ID}} {{.Label "` + project + `"}}`, "-f", "label=" + project}, []string{"network", "rm"}},
		{[]string{"images", "--format", "{{.Repository}} {{.Repository}}"}, []string{"rmi", "-f"}},
	} {
		out, err := clustertest.Command(append([]string{"docker"}, k.list...)...)
		if err != nil {
			log.Fatalf("%v; the tests of containers need a Docker Engine", err)
		}
		for _, line := range strings.Split(out, "\n") {
			if id, of, _ := strings.Cut(line, " "); clustertest.Orphan(of, prefix) {
				log.Printf("an earlier run has left %s behind", line)
				if _, err := clustertest.Command(append(append([]string{"docker"}, k.remove...), id)...); err != nil {
					log.Print(err)
				}
			}
		}
	}
	dirs, _ := filepath.Glob(filepath.Join(temporary, prefix+"*"))
	for _, d := range dirs {
		if clustertest.Orphan(filepath.Base(d), prefix) {
			_ = os.RemoveAll(d)
		}
	}
}
