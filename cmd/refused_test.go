package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// TestS3_ARefusedKeyIsToldSo: a key that may not do something hears that at once, in one short line, and which of the reasons it is. It
// does not see a cluster of silent nodes, or wait for answers that never come.
func TestS3_ARefusedKeyIsToldSo(t *testing.T) {
	k := newKeyedCluster(t)
	line := must(t, "key", "new", "wanda", "--role", "watch", "-f", k.file).out
	text, err := os.ReadFile(k.file)
	if err == nil {
		err = os.WriteFile(k.file, []byte(strings.Replace(string(text), "[clients]\n", "[clients]\n"+line, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	k.must("up")
	session := strings.TrimSpace(k.must("submit", "bikes", "--data", data(t, "1000"), "--detach", "--key", k.key("alice")).out)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"status", "--key", k.key("bob")}, exit.NoCluster, "it has the role submit, and listening needs the role watch or operate"},
		{[]string{"status", "--key", k.key("mallory")}, exit.NoCluster, "it is not in [clients] of"},
		{[]string{"console", "--listen", "127.0.0.1:0", "--key", k.key("bob")}, exit.NoCluster, "it has the role submit"},
		{[]string{"results", session, "--key", k.key("wanda")}, exit.Usage, "have the role watch, which reads no answers"},
		{[]string{"results", "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "--key", k.key("alice")}, exit.Session,
			"results: no node knows session 6ba7b810-9dad-41d1-80b4-00c04fd430c8; it was dropped"},
	} {
		r := k.call(c.args[0], c.args[1:]...)
		last := r.err[strings.LastIndex(strings.TrimSuffix(r.err, "\n"), "\n")+1:]
		if r.code != c.code || !strings.Contains(last, c.want) || len(last) > 500 {
			t.Errorf("posta %s: exit code %d, %d bytes: %s", strings.Join(c.args, " "), r.code, len(last), last)
		}
	}

	must(t, "key", "revoke", "wanda", "-f", k.file)
	// as on a client's own machine
	if err := os.Remove(filepath.Join(k.key("wanda"), "revoked")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancelCause(context.Background())
	var out, said await.Log
	ended := make(chan int, 1)
	go func() {
		ended <- runWithin(ctx, context.Background(), program(), []string{"posta", "status", "--watch", "-f", k.file, "--key", k.key("wanda")},
			Console{In: strings.NewReader(""), Out: &out, Err: &said})
	}()
	await.Until(t, "status --watch says why it shows nothing", func() bool {
		return len(ended) > 0 ||
			strings.Contains(said.String(), "it is revoked")
	})
	interrupt(exit.ErrInterrupted)
	if code := <-ended; code != exit.OK {
		t.Errorf("exit code %d, %s", code, said.String())
	}
}
