//go:build docker

package deploy

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// holdFree takes all ports of the test's hosts that are free.
func (s *testCluster) holdFree() (release func()) {
	var all []net.Listener
	for p := s.ports; p < s.ports+2*span; p++ {
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p))); err == nil {
			all = append(all, l)
		}
	}
	return func() {
		for _, l := range all {
			_ = l.Close()
		}
	}
}

func (s *testCluster) running() int {
	return len(docker("ps", "-q", "--filter", "label=posta.cluster="+s.name))
}

// A port that is taken is found while the old cluster runs. And a cluster whose containers are right is not said to be so while one of its
// nodes ends again and again.
func TestAPortIsTakenAndANodeEndsAgainAndAgain(t *testing.T) {
	s := newTestCluster(t)
	release := s.holdFree()
	if _, errs, err := s.try(t.Context(), first, "deploy"); err == nil || !strings.Contains(errs, "a port that the cluster needs is taken") {
		t.Errorf("the first deploy: %v, %s", err, errs)
	}
	release()
	s.deploy(first)
	before := s.running()
	release = s.holdFree()
	s.joiners = 3
	s.write()
	_, errs, err := s.try(t.Context(), first, "deploy")
	if err == nil || !strings.Contains(errs, "a port that the cluster needs is taken") || s.running() != before {
		t.Errorf("more joiners: %v; %d of %d containers run; %s", err, s.running(), before, errs)
	}
	release()
	s.deploy(first)
	for end := time.Now().Add(time.Minute); ; {
		_, errs, err := s.try(t.Context(), first, "deploy")
		if err == nil && strings.Contains(errs, "all its nodes and medics are heard") {
			break
		}
		// On a machine that has stood still, medics may be restarting a node.
		if restarted := strings.Contains(errs, "what is missing") || strings.Contains(errs, "does not stay up"); !restarted ||
			time.Now().After(end) {
			t.Fatalf("said again: %v, %s", err, errs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	killer := make(chan struct{})
	var mu sync.Mutex // guards kills
	var kills []time.Time
	go func() {
		defer close(killer)
		for ctx.Err() == nil {
			if ids := docker("ps", "-q", "--filter", "label=posta.cluster="+s.name, "--filter", "label=posta.node=joiner-1"); len(ids) > 0 {
				docker("kill", ids[0])
				mu.Lock()
				kills = append(kills, time.Now())
				mu.Unlock()
			}
			time.Sleep(4 * time.Second)
		}
	}()
	// The killer may be kept from the processor for so long that joiner-1 does stay up.
	spared := func(since time.Time) bool {
		mu.Lock()
		defer mu.Unlock()
		for _, k := range append(slices.Clone(kills), time.Now()) {
			if k.Sub(since) > 8*time.Second {
				return true
			}
			if k.After(since) {
				since = k
			}
		}
		return false
	}
	began := time.Now()
	_, errs, err = s.try(t.Context(), first, "deploy", "--timeout", "20s")
	for tries := 1; err == nil && (strings.Contains(errs, "what is missing") || spared(began)) && tries < 10; tries++ {
		// It looked between a death and the medics' restart, and started the node itself; or nobody killed it.
		began = time.Now()
		_, errs, err = s.try(t.Context(), first, "deploy", "--timeout", "20s")
	}
	if err == nil || !strings.Contains(errs, "joiner-1") {
		t.Errorf("joiner-1 ends again and again: %v, %s", err, errs)
	}
	cancel()
	<-killer
}
