package medics

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/truth"
)

// patience bounds analyses on a busy machine.
const patience = 5 * time.Minute

func (c *cluster) run(cfg client.Config) (*client.Answer, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cfg.Entries = append(c.topo.EntryPoints(), c.topo.Outputs()...)
	return client.Run(ctx, cfg)
}

func appendTo(t *testing.T, file string, data []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(data)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestN9_BusyNodesAreLeftAlone: a reference stream of 30 MB, which joiners take in in a few turns of their loop, and
// one chunk of 8.4 million rows that cannot be parsed. No node is restarted because of it, and the answers are right. Without the race
// detector, with which make nightly runs this test, a fifth of both is enough.
func TestN9_BusyNodesAreLeftAlone(t *testing.T) {
	c := up(t, underLoad())
	since, generation, part := time.Now(), c.Generation(), 5
	if raced {
		part = 1
	}

	bikes := clustertest.Bikes(t, 2000).Dir
	stations := []byte("\n")
	for i := 0; len(stations) < 30<<20/part; i++ {
		stations = fmt.Appendf(stations, "%d,Somewhere in the Middle of Nowhere %d,45.5,-73.5,2014\n", 1_000_000+i, i)
	}
	appendTo(t, filepath.Join(bikes, "montreal", "stations.csv"), stations)
	c.compare("bikes", bikes, 0)

	movies := clustertest.Make(t, "movies", 2000).Dir
	appendTo(t, filepath.Join(movies, "movies_metadata.csv"), append([]byte("\n"), bytes.Repeat([]byte("x\n"), 8_380_000/part)...))
	c.compare("movies", movies, 16<<20)

	if told := c.Incidents(since); len(told) > 0 || c.Generation() != generation {
		t.Errorf("N9: nodes were busy, and the journal reports %+v, generation %d", told, c.Generation())
	}
}

// compare runs an analysis; chunks are as large as the cluster lets them be, or 0 for what it asks for.
func (c *cluster) compare(analysis, dir string, chunk int) {
	c.t.Helper()
	want, err := truth.JSON(analysis, dir)
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := c.run(client.Config{Analysis: analysis, Dir: dir, Chunk: chunk})
	if err != nil {
		c.t.Fatalf("%s: %v", analysis, err)
	}
	if g, w := clustertest.Answer(c.t, got), clustertest.Answer(c.t, want); !bytes.Equal(g, w) {
		c.t.Errorf("%s: D1: the answer differs: %.300s\nwant %.300s", analysis, g, w)
	}
}

func words(t *testing.T, all ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "words.csv"), []byte("word\n"+strings.Join(all, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestN9_AHungLoopEndsItsNodeAndItsSession: an analysis hangs on a row. Its node ends itself, is started again, and
// fails the session with a reason that names stage and stream. The next session runs.
func TestN9_AHungLoopEndsItsNodeAndItsSession(t *testing.T) {
	c := up(t, map[string]string{"medics.stuck_after": "2s"})
	since := time.Now()
	_, err := c.run(client.Config{Analysis: "moody", Dir: words(t, "a", "hang", "b")})
	if !errors.Is(err, protocol.ErrFailed) || !strings.Contains(err.Error(), "joiner") || !strings.Contains(err.Error(), "stream words") ||
		!strings.Contains(err.Error(), "hung in stage") {
		t.Fatalf("the session ends with %v", err)
	}
	for _, i := range c.Over(since) {
		if !strings.HasPrefix(string(i.Node), "joiner-") || i.Restarts != 1 || !strings.Contains(i.Cause, "70") &&
			!strings.Contains(i.Cause, "ended") {
			t.Errorf("the journal reports %+v", i)
		}
	}
	got, err := c.run(client.Config{Analysis: "moody", Dir: words(t, "a", "b", "a")})
	if err != nil {
		t.Fatalf("the next session: %v", err)
	}
	var answer struct {
		Queries map[string]struct{ Rows [][]any }
	}
	if b, err := json.Marshal(got); err != nil || json.Unmarshal(b, &answer) != nil ||
		fmt.Sprint(answer.Queries["words"].Rows) != "[[a 2] [b 1]]" {
		t.Errorf("the next session's answer is %s, %v", b, err)
	}
	if notes, _ := filepath.Glob(filepath.Join(c.topo.DataDir, "joiner-*", "hung*")); len(notes) > 0 {
		t.Errorf("the session has failed for good, and %v is left", notes)
	}
}

// TestN9_ANodeThatDiesOfASessionGivesItUp: an analysis ends the process on a row, as the kernel does where memory is
// short. The session does not kill the node again and again while its client waits: it fails with the way in which the
// node died, and the next session runs.
func TestN9_ANodeThatDiesOfASessionGivesItUp(t *testing.T) {
	c := up(t, nil)
	_, err := c.run(client.Config{Analysis: "moody", Dir: words(t, "a", "exit", "b")})
	if !errors.Is(err, protocol.ErrFailed) || !strings.Contains(err.Error(), "node joiner-") ||
		!strings.Contains(err.Error(), "died 3 times in a row") ||
		!strings.Contains(err.Error(), "exit status 9") {
		t.Fatalf("the session ends with %v", err)
	}
	if _, err := c.run(client.Config{Analysis: "moody", Dir: words(t, "a", "b", "a")}); err != nil {
		t.Fatalf("the next session: %v", err)
	}
	if notes, _ := filepath.Glob(filepath.Join(c.topo.DataDir, "joiner-*", "d*")); len(notes) > 0 {
		t.Errorf("the session has failed for good, and %v is left", notes)
	}
}
