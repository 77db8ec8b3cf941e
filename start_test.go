package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Of what packages compute before main begins. Figures vary by a few with the seeds of maps.
const (
	mostOfOurs   = 320   // allocations of one of our packages
	mostOfAll    = 1000  // of all of them
	mostOfOthers = 200   // of a package of others that is not in heavyAtStart
	mostBytes    = 64e3  // of any package that is not in heavyAtStart
	mostInTotal  = 10500 // allocations of all packages
)

// heavyAtStart are the packages of others that allocate more. Each is needed by a dependency that has no smaller package for the purpose:
// the Docker client (reference, go-digest), the signatures and credentials of S3 (s3utils), cli's manual pages, which releases leave out by
// a build tag (blackfriday), and NATS (gob, nats.go).
var heavyAtStart = []string{"github.com/distribution/reference", "github.com/opencontainers/go-digest",
	"github.com/minio/minio-go/v7/pkg/s3utils", "github.com/russross/blackfriday/v2", "encoding/gob", "github.com/nats-io/nats%2ego"}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

// TestWhatIsComputedBeforeMain: a question over a small file takes little more time than the start of the program, so packages compute what
// they do not need for every command when it is needed (internal/lazy). This counts allocations, because times depend on the machine.
func TestWhatIsComputedBeforeMain(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^$")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	known := fmt.Sprint(heavyAtStart)
	total, ours, packages := 0, 0, 0
	for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
		name := m[1]
		bytes, _ := strconv.Atoi(m[2])
		allocs, _ := strconv.Atoi(m[3])
		total += allocs
		most := mostOfOthers
		if strings.HasPrefix(name, "posta.dev/posta/") {
			most, ours, packages = mostOfOurs, ours+allocs, packages+1
		}
		if (allocs > most || bytes > mostBytes) && !strings.Contains(known, name) {
			t.Errorf("%s allocates %d times, %d bytes, before main", name, allocs, bytes)
		}
	}
	if packages == 0 || ours > mostOfAll || total > mostInTotal {
		t.Errorf("before main, %d packages of ours allocate %d times; all packages %d times", packages, ours, total)
	}
	t.Logf("ours %d, all %d", ours, total)
}
