package cmd

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

var update = flag.Bool("update", false, "rewrite testdata/errors.txt")

// calls are wrong in one way each. D is a directory with data, EMPTY an empty one. BAD is a topology with mistakes, GOOD one without
// mistakes, LOCAL one without addresses.
var calls = []string{
	"nonsense",
	"statsu",
	"run",
	"run bikes",
	"run bikes more --data D",
	"run nope --data D",
	"run bikes --data NOWHERE",
	"run bikes --data EMPTY",
	"run bikes --data GOOD",
	"run bikes --data D --dta",
	"run bikes --data D --socket tcp",
	"run bikes --data D --transprot tcp",
	"run bikes --data D -z",
	"run bikes --data D --lanes x",
	"run bikes --data D --lanes 0",
	"run bikes --data D --chunk 1GiB",
	"run bikes --data D --chunk 0",
	"run bikes --data D --timeout -1s",
	"run bikes --data D --param rain",
	"run bikes --data D --param rain=1",
	"run bikes --data D --param rain_mm=wet",
	"run bikes --data D --replicas jiner=2",
	"run bikes --data D --replicas joiner=0",
	"run bikes --data D --replicas joiner=65",
	"run bikes --data D --set limits.windw=1MiB",
	"run bikes --data D --set window",
	"run bikes --data D --sockets rdma",
	"topology new --sockets /nowhere",
	"run bikes --data D --transport rdma",
	"run bikes --data D --sockets tcp --transport tcp",
	"run bikes --data D -f GOOD --sockets tcp",
	"run bikes --data D --set cluster.transport=rabbitmq --set rabbitmq.url=amqp://guest:guest@127.0.0.1:1/",
	"run bikes --data D --set cluster.transport=nats --set nats.url=nats://127.0.0.1:1",
	"run bikes --data D --dir GOOD",
	"run bikes --data D --out GOOD",
	"run bikes --data D --out GOOD/answers.json",
	"run bikes --data D --out NOWHERE/answers.json",
	"run bikes --data D --out D/answers.csv",
	"run bikes --data D --out D/answers.json --format csv",
	"run bikes --data D --out D --format xml",
	"run bikes --data D --format json",
	"submit bikes --data D -f GOOD --detach --out D",
	"run bikes --data D --to mysql://me:secret@host/trips",
	"run bikes --data D --to postgres://me@host/stats/a/b",
	"run bikes --data D -f NOWHERE",
	"run bikes --data D -f BAD",
	"run bikes --data D -f GOOD --replicas joiner=3",
	"submit bikes --data D -f NOWHERE",
	"submit bikes --data D -f GOOD --patience 10ms",
	"submit bikes --data D -e nowhere",
	"submit bikes --data D -f GOOD --session 17",
	"submit bikes --data D -f GOOD --resume 17",
	"submit bikes --data D -f GOOD --resume 6ba7b810-9dad-41d1-80b4-00c04fd430c8 --session 6ba7b810-9dad-41d1-80b4-00c04fd430c8",
	"submit bikes --data D -f LOCAL",
	"status -f LOCAL",
	"chaos -f LOCAL",
	"console -f LOCAL",
	"console -f NOWHERE",
	"console more",
	"console -f GOOD --listen 0.0.0.0:8080",
	"console -f GOOD --login",
	"console -f SERVED --login",
	"console -f GOOD --listen :8080",
	"console -f GOOD --listen 192.0.2.1:8080",
	"console -f GOOD --listen example.com:8080",
	"console -f GOOD --listen 127.0.0.1",
	"console -f GOOD --listen 127.0.0.1:http",
	"node joiner-1 -f LOCAL",
	"medic medic-1 -f LOCAL",
	"deploy --render systemd -f LOCAL D",
	"topology published D",
	"topology published GOOD LOCAL",
	"sessions -f GOOD --patience 10ms",
	"sessions more",
	"results",
	"results 17",
	"results -f GOOD --patience 10ms 6ba7b810-9dad-41d1-80b4-00c04fd430c8",
	"cancel -f GOOD --patience 10ms 6ba7b810-9dad-41d1-80b4-00c04fd430c8",
	"status -f NOWHERE",
	"deploy --render systemd",
	"deploy --render kubernetes -f GOOD D",
	"deploy --render systemd -f NOWHERE D",
	"deploy --render compose -f BAD D",
	"up -f NOWHERE",
	"up -f BAD",
	"up -f GOOD --host nobody",
	"up -f HOSTS",
	"up -f OPEN --host local",
	"node joiner-1 -f OPEN",
	"topology check OPEN",
	"down -f BAD",
	"node",
	"node joiner-1 -f NOWHERE",
	"node joiner-9 -f GOOD",
	"node joiner-1 -f GOOD --log loud",
	"node joiner-1 -f GOOD --address joiner-1:5500",
	"medic medic-1 -f GOOD --address ipc:/run",
	"deploy more",
	"deploy -f NOWHERE",
	"deploy -f HOSTS --image some --program D",
	"deploy -f HOSTS --rollback --image some",
	"deploy -f HOSTS --program GOOD",
	"deploy status -f BAD",
	"deploy logs",
	"undeploy more",
	"gen",
	"gen nope --out D",
	"gen bikes",
	"gen bikes --out D --rows -1",
	"gen bikes --out GOOD",
	"topology",
	"topology chek",
	"topology check BAD",
	"topology check GOOD BAD",
	"topology compose GOOD --out EMPTY",
	"topology compose HOSTS",
	"key",
	"key init more",
	"key new -f LOCAL",
	"key new alice -f LOCAL",
	"key new Alice --role submit -f LOCAL",
	"key new alice --role root -f LOCAL",
	"key list -f LOCAL",
	"key list -f BAD",
	"key revoke -f LOCAL",
	"key revoke alice -f LOCAL",
	"log",
	"log verify",
	"log verify NOWHERE",
	"log verify GOOD",
	"log verify EMPTY",
	"completion tcsh",
}

// TestErrorsAreOneLine: each mistake is reported in one line on standard error, with the right exit code. A topology with several mistakes
// has a line for each.
func TestErrorsAreOneLine(t *testing.T) {
	places, names := wrongPlaces(t)
	t.Setenv("TMPDIR", t.TempDir())
	var b strings.Builder
	for _, call := range calls {
		args := strings.Fields(call)
		for i, a := range args {
			if p := places[a]; p != "" {
				args[i] = p
			}
		}
		r := posta(t, args...)
		if r.out != "" {
			t.Errorf("posta %s prints %q on standard output", call, r.out)
		}
		said := names.Replace(r.err)
		fmt.Fprintf(&b, "$ posta %s\n%s[%d]\n\n", call, said, r.code)
		if lines := strings.Count(said, "\n"); lines != 1 && !strings.Contains(said, "BAD:") {
			t.Errorf("posta %s says %d lines:\n%s", call, lines, said)
		}
	}
	golden(t, "testdata/errors.txt", b.String())
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func wrongPlaces(t *testing.T) (map[string]string, *strings.Replacer) {
	dir := t.TempDir()
	places := map[string]string{"D": data(t, "10"), "EMPTY": t.TempDir()}
	for _, name := range []string{"NOWHERE", "BAD", "GOOD", "LOCAL", "HOSTS", "OPEN", "SERVED"} {
		places[name] = filepath.Join(dir, name)
	}
	places["SOCKETS"] = temp.Sockets(t)
	good, err := topology.Generate(topology.Variant{IPCDir: places["SOCKETS"]})
	if err != nil {
		t.Fatal(err)
	}
	unplaced, err := topology.Generate(topology.Variant{Dir: "/nowhere/data", Settings: map[string]string{"security.keys": "/nowhere/keys"}})
	if err != nil {
		t.Fatal(err)
	}
	hosts := strings.Replace(topology.DefaultText(), "[hosts.local]",
		"[hosts.far]\naddress = \"192.0.2.2\"\n[hosts.local]\naddress = \"192.0.2.1\"", 1)
	for name, text := range map[string]string{"GOOD": good, "LOCAL": unplaced, "BAD": "[cluster]\nnme = \"x\"\n", "HOSTS": hosts,
		"SERVED": strings.Replace(good, `console = ""`, `console = "127.0.0.1:1"`, 1),
		"OPEN":   strings.Replace(hosts, `keys = "keys"`, `keys = "/nowhere/keys"`, 1)} {
		if err := os.WriteFile(places[name], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must(t, "key", "init", "-f", places["HOSTS"])
	var pairs []string
	for name, path := range places {
		pairs = append(pairs, path, name)
	}
	return places, strings.NewReplacer(pairs...)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s, line %d:\ngot  %s\nwant %s\n(go test -update rewrites it)", name, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s has %d lines, got %d (go test -update rewrites it)", name, len(w), len(g))
}

// writeTopology makes a file with `posta topology new`.
func writeTopology(t *testing.T, name string, flags ...string) {
	t.Helper()
	text := must(t, append([]string{"topology", "new"}, flags...)...).out
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSettingsThatNoFileMayHave: these errors name defaults, which package topology chooses.
func TestSettingsThatNoFileMayHave(t *testing.T) {
	for _, call := range []string{"topology new --set limits.chunk=1GiB", "topology new --set limits.window=1",
		"topology new --set medics.replicas=99"} {
		args := strings.Fields(call)
		key, _, _ := strings.Cut(args[len(args)-1], "=")
		r := posta(t, args...)
		if r.code != exit.Usage || r.out != "" || strings.Count(r.err, "\n") != 1 || !strings.Contains(r.err, "setting "+key+": ") {
			t.Errorf("posta %s: exit code %d, %q, %q", call, r.code, r.out, r.err)
		}
	}
}
