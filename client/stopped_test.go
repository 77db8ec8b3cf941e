package client

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// With this variable, which holds the address of a node, the test's program is the client of TestM6_AStoppedClientGivesNobodyUp.
const stoppedClientsEntry = "POSTA_TEST_STOPPED_CLIENT"

const stoppedClientsPatience = 3 * time.Second

// beStopped asks a cluster what it has, and returns the exit code.
func beStopped(entry string) int {
	c, err := Dial(context.Background(), Config{Entries: []string{entry}, Timeout: 100 * time.Millisecond,
		GiveUpAfter: stoppedClientsPatience})
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// TestM6_AStoppedClientGivesNobodyUp: a client whose process was stopped for longer than it is patient asks again. If nobody answers then,
// it gives up after its patience.
func TestM6_AStoppedClientGivesNobodyUp(t *testing.T) {
	for name, answered := range map[string]bool{"answered afterwards": true, "silence afterwards": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeCluster(t, 1, 1)
			asked, continued := make(chan struct{}, 1), atomic.Bool{}
			var later atomic.Int64
			f.mu.Lock()
			f.fault = func(heard) fault {
				if continued.Load() {
					later.Add(1)
				}
				select {
				case asked <- struct{}{}:
				default:
				}
				return fault{deaf: !answered || !continued.Load()}
			}
			f.mu.Unlock()
			client := exec.Command(os.Args[0])
			client.Env = append(os.Environ(), stoppedClientsEntry+"="+f.inputs[0].endpoint)
			var said strings.Builder
			client.Stdout, client.Stderr = &said, &said
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Process.Kill() }() // it has ended, unless the test failed
			<-asked
			if err := client.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			time.Sleep(stoppedClientsPatience + time.Second)
			continued.Store(true)
			if err := client.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			switch err := client.Wait(); {
			case answered && err != nil:
				t.Errorf("%v: %s", err, &said)
			case !answered && (err == nil || !strings.Contains(said.String(), ErrNoCluster.Error())):
				t.Errorf("nobody answered: %v: %s", err, &said)
			case later.Load() == 0:
				t.Error("it asks nobody after it was continued")
			}
		})
	}
}
