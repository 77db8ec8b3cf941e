//go:build docker

package deploy

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A deploy that is killed in a reshape may have stopped the medics, and told the engine to stop the input, which drains: the next deploy
// finds it running, and then it ends. That deploy starts it again, asks it, and does its work.
func TestTheInputOfAKilledDeployEnds(t *testing.T) {
	s := newTestCluster(t)
	s.deploy(first)
	of := func(label string) string {
		ids := docker("ps", "-q", "--filter", "label=posta.cluster="+s.name, "--filter", "label="+label)
		if len(ids) == 0 {
			t.Fatalf("nothing runs with the label %s", label)
		}
		return ids[0]
	}
	for range 2 {
		docker("stop", of("posta.role=medic"))
	}
	input := of("posta.node=input-1")
	docker("kill", "-s", "STOP", input) // it drains for ever, until the engine kills it
	stop := exec.Command("docker", "stop", "-t", "15", input)
	if err := stop.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stop.Wait() }()
	s.joiners = 2
	s.write()
	began := time.Now()
	_, errs, err := s.try(t.Context(), first, "deploy", "--wait", "1m")
	if err != nil {
		t.Fatalf("after %v: %v\n%s", time.Since(began), err, errs)
	}
	// A slow machine looks for the first time when the input has ended.
	t.Logf("planned again: %v", strings.Contains(errs, "the deploy is planned again"))
	s.plansNothing(first)
}
