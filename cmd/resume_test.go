package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/test/await"
)

// stays starts a client that stops in the middle of its upload, and dies when leave is called. Until then the cluster hears it.
func (k *testCluster) stays(dir string) (id session.ID, leave func()) {
	k.t.Helper()
	died := errors.New("it dies")
	id = session.New()
	var cut atomic.Int64
	there, told, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	cfg := client.Config{Entries: k.entries(), Analysis: "bikes", Dir: dir, Session: id, Chunk: 8 << 10, Lanes: 1}
	cfg.Inspect = func(string, string, []byte) (func([]byte, uint64) error, error) {
		return func([]byte, uint64) error {
			if cut.Add(1) == 60 {
				close(there)
				<-told
				return died
			}
			return nil
		}, nil
	}
	go func() {
		ctx := context.Background()
		cl, err := client.Dial(ctx, cfg)
		if err == nil {
			err = cl.Open(ctx)
		}
		if err == nil {
			if err = cl.Upload(ctx); errors.Is(err, died) {
				err = cl.Close()
			}
		}
		ended <- err
	}()
	leave = sync.OnceFunc(func() {
		close(told)
		if err := <-ended; err != nil {
			k.t.Error(err)
		}
	})
	select {
	case <-there:
	case err := <-ended:
		k.t.Fatalf("the client ends before it has sent much: %v", err)
	}
	k.t.Cleanup(leave)
	return id, leave
}

// TestR17_ResumeInWords: for each state of a session the command says what to do, and has the right exit code. With the right files it
// prints the answer.
func TestR17_ResumeInWords(t *testing.T) {
	k := newTestCluster(t)
	k.must("up")
	dir := data(t, "20000")
	want := expected(t, dir)
	id, leave := k.stays(dir)
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	weather := filepath.Join(other, "montreal", "weather.csv")
	text, err := os.ReadFile(weather)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(weather, []byte(strings.Replace(string(text), "2014-", "2024-", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	says := func(code int, words string, args ...string) {
		t.Helper()
		if r := k.call("submit", append([]string{"bikes", "--quiet"}, args...)...); r.code != code || !strings.Contains(r.err, words) {
			t.Errorf("submit %s: exit code %d, want %d, %s", strings.Join(args, " "), r.code, code, r.err)
		}
	}
	says(exit.InUse, "can be taken over when that client has said nothing for 5s", "--data", dir, "--resume", id.String(), "--no-wait")
	var out, said await.Log
	code := make(chan int, 1)
	go func() {
		code <- runWithin(context.Background(), context.Background(), program(),
			[]string{"posta", "submit", "-f", k.file, "bikes", "--data", dir, "--resume", id.String(), "--json", "--chunk", "50KiB", "--lanes", "3"},
			Console{In: strings.NewReader(""), Out: &out, Err: &said})
	}()
	await.Until(t, "it waits for the other client", func() bool {
		return strings.Contains(said.String(),
			"waiting until the session's other client")
	})
	leave()
	r := result{<-code, out.String(), said.String()}
	if r.code != exit.OK {
		t.Fatalf("exit code %d, %s", r.code, r.err)
	}
	same(t, parse(t, r.out), want)
	says(exit.Session, "was closed", "--data", dir, "--resume", id.String())
	says(exit.Session, "without --resume a new one is begun", "--data", dir, "--resume", "6ba7b810-9dad-41d1-80b4-00c04fd430c8")

	id, leave = k.stays(dir)
	leave()
	says(exit.Usage, "cannot be read twice", "--data", dir, "--resume", id.String(), "--file", "montreal/trips.csv=-")
	says(exit.Usage, "montreal/weather.csv differs between bytes", "--data", other, "--resume", id.String())

	done := strings.TrimSpace(k.must("submit", "bikes", "--data", dir, "--detach").out)
	same(t, parse(t, k.must("results", done, "--json").out), want) // the session has its answer
	same(t, parse(t, k.must("submit", "bikes", "--data", dir, "--resume", done, "--json").out), want)
}
