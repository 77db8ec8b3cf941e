//go:build docker

package deploy

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Of two deploys at once, one changes the cluster. The other is refused with a reason, and works when it is run again.
// A killed deploy does not keep the next one waiting.
func TestTwoDeploysAtOnce(t *testing.T) {
	s := newTestCluster(t)
	type end struct {
		errs string
		err  error
	}
	ends := make(chan end, 2)
	for range cap(ends) {
		go func() {
			_, errs, err := s.try(t.Context(), first, "deploy")
			ends <- end{errs, err}
		}()
	}
	refused := 0
	for range cap(ends) {
		if e := <-ends; e.err != nil {
			refused++
			if !strings.Contains(e.errs, "is being changed by posta deploy of") {
				t.Errorf("refused with: %s", e.errs)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d of 2 deploys were refused", refused)
	}
	s.joiners = 2
	s.write()
	killed := exec.Command(first, "deploy", "--topology", s.file)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); len(docker("volume", "ls", "-q", "--filter", "label=posta.lock="+s.name)) == 0 && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	s.deploy(first)
	if left := docker("volume", "ls", "-q", "--filter", "label=posta.lock="+s.name); len(left) != 0 {
		t.Errorf("the lock stays: %v", left)
	}
	s.posta(first, "undeploy", "--yes", "--volumes")

	// A volume of unknown origin is refused before anything has changed.
	docker("volume", "create", s.name+"-joiner-1")
	t.Cleanup(func() { docker("volume", "rm", s.name+"-joiner-1") })
	if _, errs, err := s.try(t.Context(), first, "deploy"); err == nil || !strings.Contains(errs, "docker volume rm "+s.name+"-joiner-1") {
		t.Errorf("a volume without labels: %v, %s", err, errs)
	}
}
