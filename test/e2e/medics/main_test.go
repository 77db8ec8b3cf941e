package medics

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/bikes"
	"posta.dev/posta/analyses/flights"
	"posta.dev/posta/analyses/memes"
	"posta.dev/posta/analyses/movies"
	"posta.dev/posta/analyses/sql/split"
	"posta.dev/posta/cmd"
	"posta.dev/posta/nodes"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// selfVar makes the test binary the posta program: nodes and medics are started as that.
const selfVar = "POSTA_E2E_MEDICS"

var (
	kills        = flag.Int("kills", 2, "kills of each kind of node in TestRecoveryTable; 30 give figures that mean something")
	loadRows     = flag.Int("load-rows", 20000, "rows of each session that runs meanwhile in TestRecoveryTable")
	chaosTime    = flag.Duration("chaos", 0, "how long TestChaos continues; 0 for some seconds")
	chaosSeed    = flag.Uint64("chaos-seed", 0, "what TestChaos does to whom, and when; 0 for another each time")
	soakTime     = flag.Duration("soak", 0, "how long TestSoak continues; 0 for some seconds")
	soakInto     = flag.String("soak-into", "", "the `FILE` to which TestSoak appends its record")
	soakPause    = flag.Duration("soak-pause", time.Second, "how long each kind of session of TestSoak pauses between two")
	manySessions = flag.Int("sessions", 0,
		"how many sessions TestSessionsLeaveNothing runs one after the other; 0 for some, 1000 for the full length")
	quiet = flag.Duration("quiet", 0, "how long TestNoNodeIsSuspectedUnderLoad looks on; 0 for some seconds")
)

func TestMain(m *testing.M) {
	if os.Getenv(selfVar) != "" {
		if err := atStart(os.Args); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		cmd.Main(program())
	}
	if err := os.Setenv(selfVar, "1"); err != nil {
		panic(err)
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// calmly adds to the settings of a cluster that medics wait longer than a shared machine stands still, which may be a second or two, before
// they take a silent process for dead. By the default they would be right to restart what no test has hit. The race detector makes nodes
// ten times slower.
func calmly(settings map[string]string) map[string]string {
	if alone() {
		return settings
	}
	calm := map[string]string{"medics.suspect_after": "4s"}
	if raced {
		calm = underLoad()
	}
	maps.Copy(calm, settings)
	return calm
}

// underLoad are settings for a test that loads everything to the full. Other tests run beside it, and the race detector makes nodes ten
// times slower, and with them each turn of their loop, in which they say nothing.
func underLoad() map[string]string {
	if alone() {
		return nil
	}
	return map[string]string{"medics.suspect_after": "8s"}
}

// alone reports that the flags ask for a longer test or for figures, which runs alone: the default settings are to hold there.
func alone() bool { return !raced && (*chaosTime > 0 || *soakTime > 0 || *quiet > 0 || *kills > 2) }

func known() analyses.Set {
	return analyses.Set{bikes.New(), flights.New(), movies.New(), memes.New(), split.New(), moody()}
}

func program() cmd.Program {
	return cmd.Program{
		Analyses: known(), Version: "e2e",
		RunNode: func(ctx context.Context, t *topology.Topology, node topology.NodeID, keys *security.Keys, log *slog.Logger) error {
			return nodes.Run(ctx, nodes.Config{Topology: t, Node: node, Known: known(), Version: "e2e", Log: log, Keys: keys,
				Headroom: nodes.DefaultHeadroom, Exit: os.Exit})
		},
	}
}
