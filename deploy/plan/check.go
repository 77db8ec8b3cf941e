package plan

import (
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/topology"
)

// Limits for clocks. Nothing in Posta depends on the hosts' time of day, but people compare logs, and a clock that is far off shows that a
// host is not well kept.
const (
	clockNote   = 500 * time.Millisecond
	clockRefuse = 10 * time.Second
)

// checkEngines refuses hosts that cannot run the cluster, and warns about clocks that are off.
func checkEngines(d *Desired, o *Observed) (warnings []string, err error) {
	engines := map[string]bool{}
	for _, h := range d.Hosts {
		e := o.Engine(h.Name)
		if e == nil {
			return nil, fmt.Errorf("%w: the engine of host %q did not answer", ErrRefused, h.Name)
		}
		engines[e.ID] = true
		off := max(e.Offset, -e.Offset)
		switch {
		case e.OS != "linux":
			return nil, fmt.Errorf("%w: host %q runs containers of %s; the image is for linux", ErrRefused, h.Name, e.OS)
		case d.Arch != "" && e.Arch != d.Arch:
			return nil, fmt.Errorf("%w: host %q is %s and the image is for %s; name a program for it with --program, or an image with --image",
				ErrRefused, h.Name, e.Arch, d.Arch)
		case e.Plain && slices.ContainsFunc(d.Units, func(u Unit) bool { return u.Host == h.Name && u.Keys != "" }):
			return nil, fmt.Errorf("%w: the engine of host %q is reached over plain tcp://, and private keys are to be sent there, which "+
				"everybody on the way could read; below [hosts.%s] write engine = \"unix:///var/run/docker.sock\" (this machine's), engine = "+
				"\"ssh://USER@HOST\", or engine_ca, engine_cert and engine_key beside tcp://. To use the cluster without keys, write insecure = "+
				"true below [security]: then whoever reaches its ports can use it", ErrRefused, h.Name, h.Name)
		case off-e.OffsetError > clockRefuse:
			return nil, fmt.Errorf("%w: the clock of host %q is off by %s; set it, with NTP for instance", ErrRefused, h.Name,
				off.Round(time.Second))
		case off-e.OffsetError > clockNote:
			warnings = append(warnings, fmt.Sprintf("the clock of host %s is off by %s", h.Name, off.Round(100*time.Millisecond)))
		}
	}
	if d.OneMachine && len(engines) > 1 {
		return nil, fmt.Errorf("%w: the hosts have addresses that only their own machine can dial, and different engines; write addresses "+
			"that all hosts can dial", ErrRefused)
	}
	return warnings, nil
}

// checkVolumes refuses names that are taken by volumes without the cluster's label. It does so before anything is changed, while the old
// cluster still runs.
func (c *comparison) checkVolumes() error {
	for _, u := range c.units {
		names := []string{VolumeName(c.Cluster, u.Name)}
		if shared := u.shared(c.Cluster); shared != "" {
			names = append(names, shared)
		}
		for _, name := range names {
			if slices.Contains(u.engine.Strangers, name) {
				return fmt.Errorf("%w: on host %q is a volume %s that has no label of this cluster and that no container of it uses; if nobody else "+
					"needs it, remove it there with `docker volume rm %s` (%s then begins without data), else give the cluster another name", ErrRefused,
					u.Host, name, name, u.Name)
			}
		}
	}
	return nil
}

// resultsLost reports whether the plan deletes results that clients have not fetched yet; without Desired.LoseResults that is an error.
func (c *comparison) resultsLost() (bool, error) {
	had := slices.ContainsFunc(c.engines, func(e *Engine) bool {
		return slices.ContainsFunc(e.Volumes, func(v Volume) bool { return holds(v.Chain, topology.Output) })
	})
	kept := slices.ContainsFunc(c.units, func(u *unitState) bool { return u.data != nil && holds(u.Chain, topology.Output) })
	if !had || kept {
		return false, nil
	}
	if !c.LoseResults {
		return false, fmt.Errorf("%w: no output would keep its data, and with it the results that clients have not fetched yet; keep one "+
			"output as it is, or give --lose-results", ErrRefused)
	}
	return true, nil
}
