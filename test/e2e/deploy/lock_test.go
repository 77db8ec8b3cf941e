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
	for s.twoAtOnce() == inTurn {
		if s.limit--; s.limit < 3 {
			t.Fatal("of two deploys at once one ends again and again before the other one begins")
		}
		s.write() // so that there is something to do
	}
	s.joiners = 2
	s.write()
	killed := exec.Command(first, "deploy", "--topology", s.file)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); len(docker("volume", "ls", "-q", "--filter", "label=posta.lock="+s.name)) == 0 &&
		time.Now().Before(end); {
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

// order is how two deploys met.
type order int

const (
	atOnce order = iota
	inTurn       // a slow machine has begun one of them after the other had ended
)

// twoAtOnce starts two deploys, and demands that one of them is refused. If one began so late that there was nothing left to do, it reports
// inTurn.
func (s *testCluster) twoAtOnce() order {
	s.t.Helper()
	type end struct {
		errs string
		err  error
	}
	ends := make(chan end, 2)
	for range cap(ends) {
		go func() {
			_, errs, err := s.try(s.t.Context(), first, "deploy")
			ends <- end{errs, err}
		}()
	}
	refused, idle := 0, 0
	for range cap(ends) {
		switch e := <-ends; {
		case e.err != nil:
			refused++
			if !strings.Contains(e.errs, "is being changed by posta deploy of") {
				s.t.Errorf("refused with: %s", e.errs)
			}
		case strings.Contains(e.errs, "is as the topology says"):
			idle++
		}
	}
	if refused == 0 && idle == 1 {
		return inTurn
	}
	if refused != 1 {
		s.t.Errorf("%d of 2 deploys were refused", refused)
	}
	return atOnce
}
