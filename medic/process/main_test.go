package process

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/medic"
	"posta.dev/posta/test/await"
)

// The test binary is also the children: an environment variable says which one.
const roleVar = "POSTA_TEST_PROCESS"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "":
		goleak.VerifyTestMain(m)
	case "polite": // ends at SIGTERM
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("ready", os.Args[1])
		<-term
		os.Exit(0)
	case "gated": // as polite, but it waits for its files first
		if err := AwaitRecord(); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		fmt.Println("ready", os.Args[1])
		<-term
		os.Exit(0)
	case "deaf": // ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready", os.Args[1])
		time.Sleep(time.Hour)
	case "broken":
		fmt.Println("no")
		os.Exit(7)
	case "chatty":
		chat()
	case "companion":
		companion(os.Args[1], os.Args[2])
	case "keeper":
		keeper(os.Args[1])
	case "parent": // starts one child and waits to be killed; see TestChildrenGoWithTheirParent
		parent()
	}
}

// chatLines is how many lines a chatty child writes before it panics.
const chatLines = 5000

func chat() {
	log := slog.New(slog.NewTextHandler(Stderr(), nil))
	var wg sync.WaitGroup
	for w := range 4 { // at once
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w; i < chatLines; i += 4 {
				log.Info("said", "line", i)
			}
		}()
	}
	wg.Wait()
	fmt.Println("ready", os.Args[1])
	panic("the last word")
}

func parent() {
	r, err := New(Config{
		Dir: filepath.Join(os.Args[1], "pids"), Logs: filepath.Join(os.Args[1], "log"), DieWithParent: os.Args[2] == "tied",
		Command: func(n medic.NodeID) []string { return []string{os.Args[0], string(n)} },
		Env:     append(os.Environ(), roleVar+"=deaf"),
	})
	if err == nil {
		err = r.Start(context.Background(), "a-1")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("started")
	time.Sleep(time.Hour)
}

// children returns a Restarter for this test alone. Its children are killed when the test is over.
func children(t *testing.T, dir, role string) *Restarter {
	t.Helper()
	r, err := New(Config{
		Dir: filepath.Join(dir, "pids"), Logs: filepath.Join(dir, "log"),
		Command: func(n medic.NodeID) []string { return []string{os.Args[0], string(n)} },
		Env:     append(os.Environ(), roleVar+"="+role),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nodes, err := r.Nodes()
		if err != nil {
			t.Error(err)
		}
		for _, n := range nodes {
			if err := r.Kill(await.Soon(t), n); err != nil {
				t.Error(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
