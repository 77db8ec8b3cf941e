package systemd

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"posta.dev/posta/medic"
)

// ErrNoUnit is wrapped by errors about a node that has no unit on this machine.
var ErrNoUnit = errors.New("no unit of systemd")

// Config says which units belong to the nodes.
type Config struct {
	Unit    func(medic.NodeID) string // name of the unit, like posta-posta-joiner-1.service
	Program []string                  // default systemctl
	// Call bounds each call of systemctl, default 4s. If it is short, a busy systemd counts as hung and is asked again; if it is long, a
	// single lost answer takes all the time of an order.
	Call time.Duration
}

// Restarter starts and kills units. Several Restarters, in several processes, may act on one machine if they hold a common lock when they
// start and kill (package host); looking needs no lock.
type Restarter struct{ cfg Config }

// New makes no call to systemd.
func New(cfg Config) *Restarter {
	if len(cfg.Program) == 0 {
		cfg.Program = []string{"systemctl"}
	}
	if cfg.Call <= 0 {
		cfg.Call = 4 * time.Second
	}
	return &Restarter{cfg}
}

// unit is what systemd reports about one unit.
type unit struct {
	pid    int
	result string // why it is not active: "success", "exit-code", "signal", …
	code   string // of the last process' end, as in waitid(2)
	status string // an exit code or a signal
}

func (r *Restarter) look(ctx context.Context, node medic.NodeID) (u unit, err error) {
	out, err := r.systemctl(ctx, "show", "-p", "LoadState,MainPID,Result,ExecMainCode,ExecMainStatus", r.cfg.Unit(node))
	if err != nil {
		return u, err
	}
	said := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		name, value, _ := strings.Cut(line, "=")
		said[name] = value
	}
	if said["LoadState"] == "not-found" || said["LoadState"] == "" {
		return u, fmt.Errorf("%w: %s has none that is called %s; see `posta deploy --render systemd`, and systemctl daemon-reload", ErrNoUnit,
			node, r.cfg.Unit(node))
	}
	u = unit{result: said["Result"], code: said["ExecMainCode"], status: said["ExecMainStatus"]}
	u.pid, err = strconv.Atoi(said["MainPID"])
	if err != nil {
		return u, fmt.Errorf("look at the unit of %s: its MainPID is %q", node, said["MainPID"])
	}
	return u, nil
}

// alive reports whether there is a process. A unit that systemd is about to restart has none, and may be started now.
func (u unit) alive() bool { return u.pid != 0 }

// Start implements medic.Restarter.
func (r *Restarter) Start(ctx context.Context, node medic.NodeID) error {
	u, err := r.look(ctx, node)
	if err != nil {
		return fmt.Errorf("start %s: %w", node, err)
	}
	if u.alive() {
		return fmt.Errorf("start %s: %w", node, medic.ErrRunning)
	}
	for {
		_, err := r.systemctl(ctx, "start", r.cfg.Unit(node))
		if err == nil {
			return nil
		}
		if noAnswer(err) { // it may have been carried out
			if now, lookErr := r.look(ctx, node); lookErr == nil && now.alive() {
				return nil
			}
			if medic.Sleep(ctx, medic.AskAgain) == nil {
				continue
			}
		}
		return fmt.Errorf("start %s: %w; see journalctl -u %s", node, err, r.cfg.Unit(node))
	}
}

// Terminate implements medic.Restarter.
func (r *Restarter) Terminate(ctx context.Context, node medic.NodeID) error {
	u, err := r.look(ctx, node)
	if err != nil || !u.alive() {
		return ignoreAbsent(err)
	}
	return r.signal(ctx, node, u, "SIGTERM")
}

func (r *Restarter) signal(ctx context.Context, node medic.NodeID, u unit, signal string) error {
	_, err := r.systemctl(ctx, "kill", "--kill-who=main", "--signal="+signal, r.cfg.Unit(node))
	if err == nil {
		return nil
	}
	if now, lookErr := r.look(ctx, node); lookErr == nil && now.pid != u.pid {
		return nil // gone meanwhile
	}
	return err
}

// Kill implements medic.Restarter. It kills the process that exists now. A later process is a new incarnation: systemd itself starts medics
// again, so killing later ones, too, would never end.
func (r *Restarter) Kill(ctx context.Context, node medic.NodeID) error {
	u, err := r.look(ctx, node)
	if err != nil || !u.alive() {
		return ignoreAbsent(err)
	}
	for {
		last := r.signal(ctx, node, u, "SIGKILL")
		if last != nil && !noAnswer(last) {
			return fmt.Errorf("kill %s: %w", node, last)
		}
		now, err := r.look(ctx, node)
		if !noAnswer(err) && (err != nil || !now.alive() || now.pid != u.pid) {
			return ignoreAbsent(err)
		}
		if stop := medic.Sleep(ctx, medic.AskAgain); stop != nil {
			return fmt.Errorf("kill %s: %w: %w", node, medic.ErrStillThere, errors.Join(last, err, stop))
		}
	}
}

// Alive implements medic.Restarter.
func (r *Restarter) Alive(ctx context.Context, node medic.NodeID) (bool, error) {
	u, err := r.look(ctx, node)
	return u.alive(), ignoreAbsent(err)
}

// Wait implements medic.Restarter.
func (r *Restarter) Wait(ctx context.Context, node medic.NodeID) (medic.Death, error) {
	for {
		u, err := r.look(ctx, node)
		if !noAnswer(err) && (err != nil || !u.alive()) {
			return u.death(), ignoreAbsent(err)
		}
		if err := medic.Sleep(ctx, medic.AskAgain); err != nil {
			return medic.Death{}, err
		}
	}
}

// death describes the end with the same texts as the other restarters.
func (u unit) death() medic.Death {
	n, err := strconv.Atoi(u.status)
	switch {
	case u.result == "oom-kill":
		return medic.OutOfMemory("killed: it reached the memory limit of its unit")
	case u.code == "1" && err == nil: // CLD_EXITED: systemctl show gives numbers
		return medic.Exited(n)
	case (u.code == "2" || u.code == "3") && err == nil: // CLD_KILLED, CLD_DUMPED
		return medic.Signalled(syscall.Signal(n))
	case u.result != "" && u.result != "success":
		return medic.Death{Cause: u.result}
	}
	return medic.Death{}
}

// ignoreAbsent drops the error that there is no unit, for calls that need none.
func ignoreAbsent(err error) error {
	if errors.Is(err, ErrNoUnit) {
		return nil
	}
	return err
}

// noAnswer reports whether it is unknown if a call was carried out.
func noAnswer(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

// systemctl makes one call with a deadline of its own.
func (r *Restarter) systemctl(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Call)
	defer cancel()
	argv := append(append([]string(nil), r.cfg.Program...), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = medic.AskAgain // a systemctl that was abandoned must not keep its pipes open
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w; is systemd there? See systemctl status", strings.Join(argv, " "), ctx.Err())
	case errors.As(err, &exit):
		return "", fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return "", fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
