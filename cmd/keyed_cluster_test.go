package cmd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/freeports"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

const password = "hush-hush-1"

// newKeyedCluster starts a cluster with posta up, on TCP of loopback with keys: alice may operate and bob submit. The topology contains a
// broker's password.
func newKeyedCluster(t *testing.T) *testCluster {
	t.Helper()
	k := newTestCluster(t)
	v := topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40), Settings: map[string]string{
		"limits.drain": "4s", "medics.replicas": "1", "rabbitmq.url": "amqp://posta:" + password + "@127.0.0.1:5672/",
		"nats.url": "nats://" + password + "@127.0.0.1:4222",
	}}
	k.write(v)
	must(t, "key", "init", "-f", k.file)
	for name, role := range map[string]string{"alice": "operate", "bob": "submit", "mallory": "operate"} {
		line := must(t, "key", "new", name, "--role", role, "-f", k.file).out
		if name == "mallory" {
			continue // this client has a key, but no line in [clients]
		}
		text, err := os.ReadFile(k.file)
		if err != nil {
			t.Fatal(err)
		}
		with := strings.Replace(string(text), "[clients]\n", "[clients]\n"+line, 1)
		if with == string(text) {
			with += "\n[clients]\n" + line
		}
		if err := os.WriteFile(k.file, []byte(with), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// freePorts finds n ports in a row.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	first, err := freeports.Row(n)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func (k *testCluster) key(name string) string { return filepath.Join(k.dir, "keys", "client", name) }

// TestS6_NoSecretIsShown: a cluster has keys, and passwords in its topology. It works for the clients it admits, both for posta and for a
// plain program behind posta connect. None of its private keys and passwords appears in the output of commands, in logs, in rendered files,
// in files left in the data directory, or in arguments and environments of processes.
func TestS6_NoSecretIsShown(t *testing.T) {
	k := newKeyedCluster(t)
	var shown bytes.Buffer
	say := func(want int, args ...string) result {
		t.Helper()
		r := posta(t, append(args, "-f", k.file)...)
		fmt.Fprintf(&shown, "posta %s\n%s%s", strings.Join(args, " "), r.out, r.err)
		if r.code != want {
			t.Errorf("posta %s: exit code %d, not %d: %s", strings.Join(args, " "), r.code, want, r.err)
		}
		return r
	}
	bikes := data(t, "2000")
	say(exit.OK, "up")
	alice, bob, mallory := k.key("alice"), k.key("bob"), k.key("mallory")
	whole := say(exit.OK, "submit", "bikes", "--data", bikes, "--key", bob, "--json", "--keep-results")
	if !strings.Contains(whole.out, "queries") {
		t.Errorf("bob's answer is %.200s", whole.out)
	}
	id := strings.TrimSpace(say(exit.OK, "submit", "bikes", "--data", bikes, "--key", bob, "--detach").out)
	say(exit.OK, "results", id, "--key", alice, "--json")
	if r := say(exit.OK, "sessions", "--key", alice); !strings.Contains(r.out, "bob") {
		t.Errorf("sessions do not say whose they are: %s", r.out)
	}
	for _, form := range [][]string{nil, {"--json"}} {
		await.Until(t, "all are heard with a key", func() bool {
			r := posta(t, append([]string{"status", "--key", alice, "-f", k.file}, form...)...)
			fmt.Fprintf(&shown, "posta status\n%s%s", r.out, r.err)
			return r.code == exit.OK && !strings.Contains(r.out, "silent")
		})
	}
	// A node that stands still refuses nobody in time.
	await.Until(t, "bob, who may submit, hears that status needs another role", func() bool {
		return strings.Contains(say(exit.NoCluster, "status", "--key", bob).err, "the role watch or operate")
	})
	if r := say(exit.Usage, "submit", "bikes", "--data", bikes, "--key", mallory); !strings.Contains(r.err, "not in [clients]") {
		t.Errorf("mallory hears: %s", r.err)
	}
	if r := say(exit.Usage, "sessions"); !strings.Contains(r.err, "say which is yours with --key") {
		t.Errorf("without a key: %s", r.err)
	}
	say(exit.Session, "results", "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "--key", bob)
	k.connected("--key", alice)
	say(exit.OK, "key", "list")
	say(exit.OK, "topology", "check")
	say(exit.OK, "topology", "show")
	say(exit.OK, "topology", "show", "--json")
	for _, kind := range []string{"systemd", "compose"} {
		dir := filepath.Join(k.dir, "rendered", kind)
		say(exit.OK, "deploy", "--render", kind, dir)
		k.renderedShows(&shown, dir)
	}
	say(exit.OK, "topology", "compose")
	k.processesShow(&shown)
	say(exit.OK, "down")
	k.filesShow(&shown)
	for what, secret := range k.secrets() {
		if i := bytes.Index(shown.Bytes(), []byte(secret)); i >= 0 {
			t.Errorf("%s is shown: …%q", what, bytes.ReplaceAll(shown.Bytes()[max(0, i-200):i], []byte(secret), nil))
		}
	}
	if shown.Len() < 10_000 {
		t.Errorf("only %d bytes were looked at", shown.Len())
	}
}

// connected lets a plain program send requests to the cluster through posta connect.
func (k *testCluster) connected(args ...string) {
	k.t.Helper()
	dir := filepath.Join(temp.Sockets(k.t), "c")
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan result, 1)
	go func() {
		done <- postaUntil(ctx, context.Background(), append([]string{"connect", "-f", k.file, "--listen", "ipc:" + dir}, args...)...)
	}()
	defer func() {
		cancel()
		if r := <-done; r.code != exit.OK || !strings.Contains(r.out, "ipc://"+filepath.Join(dir, "input-1.client")) {
			k.t.Errorf("posta connect: %+v", r)
		}
	}()
	socket := filepath.Join(dir, "input-1.client")
	await.Until(k.t, "posta connect listens", func() bool { _, err := os.Lstat(socket); return err == nil })
	reply, err := client.RequestOnce(k.t.Context(), nil, "ipc://"+socket, protocol.Request{Type: protocol.Info}, time.Minute)
	if err != nil || reply.Node != "input-1" {
		k.t.Errorf("a plain program behind posta connect hears %+v, %v", reply, err)
	}
}

// secrets returns the passwords, and of each private key a part of its base64 text that occurs in no other file.
func (k *testCluster) secrets() map[string]string {
	k.t.Helper()
	found := map[string]string{"the password": password}
	k.files(filepath.Join(k.dir, "keys"), func(name string, text []byte) {
		if filepath.Base(name) != "key.pem" {
			return
		}
		block, _ := pem.Decode(text)
		if block == nil {
			k.t.Fatalf("%s is not a key", name)
		}
		seed := block.Bytes[len(block.Bytes)-32:]
		found[name] = base64.StdEncoding.EncodeToString(block.Bytes)
		found[name+", its seed"] = base64.StdEncoding.EncodeToString(seed)
		found[name+", in hexadecimal"] = fmt.Sprintf("%x", seed)
		found[name+", in bytes"] = string(seed)
	})
	if len(found) < 20 {
		k.t.Fatalf("only %d secrets", len(found))
	}
	return found
}

func (k *testCluster) files(dir string, do func(name string, text []byte)) {
	k.t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		do(name, text)
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
}

// filesShow adds all files of the data directory: logs of processes, notes, pids, and what nodes store.
func (k *testCluster) filesShow(to *bytes.Buffer) {
	k.t.Helper()
	logs := 0
	k.files(filepath.Join(k.dir, "cluster"), func(name string, text []byte) {
		fmt.Fprintf(to, "%s\n%s", name, text)
		if filepath.Base(filepath.Dir(name)) == "log" && len(text) > 0 {
			logs++
		}
	})
	if logs == 0 {
		k.t.Error("no process has a log")
	}
}

// renderedShows adds the files that posta deploy --render has written, except the two kinds that must contain secrets: only their user can
// read those.
func (k *testCluster) renderedShows(to *bytes.Buffer, dir string) {
	k.t.Helper()
	secret := 0
	k.files(dir, func(name string, text []byte) {
		if base := filepath.Base(name); base != "key.pem" && base != "topology.toml" {
			fmt.Fprintf(to, "%s\n%s", name, text)
			return
		}
		secret++
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			k.t.Errorf("%s has secrets and the mode %v, %v", name, info.Mode(), err)
		}
	})
	if secret < 8 {
		k.t.Errorf("%s has only %d files with secrets", dir, secret)
	}
}

// processesShow adds the arguments and environments of nodes and medics.
func (k *testCluster) processesShow(to *bytes.Buffer) {
	k.t.Helper()
	t, err := topology.Load(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return // this system does not show arguments and environments
	}
	for _, n := range t.All() {
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", k.pid(string(n.ID)), file))
			if err != nil || len(text) == 0 {
				k.t.Errorf("%s of %s: %v", file, n.ID, err)
			}
			to.Write(text)
		}
	}
}
