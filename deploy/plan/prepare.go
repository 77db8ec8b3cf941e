package plan

import (
	"cmp"
	"slices"
)

// prepare does everything that does not affect running units: it removes helpers of an interrupted run, ships the image, checks the disks
// and creates networks.
func (c *comparison) prepare([]Step) []stage {
	var first, networks stage
	for _, e := range c.engines {
		for _, name := range e.Helpers {
			first = append(first, hostStep(RemoveHelper, e.Name(), name))
		}
	}
	for _, h := range c.onePerEngine(func(Host, *Engine) bool { return c.busy }) {
		e := c.observed.Engine(h.Name)
		if !slices.Contains(e.Images, c.Image) {
			first = append(first, hostStep(ShipImage, h.Name, c.Image))
		}
		first = append(first, Step{Do: CheckSpace, Host: h.Name, Need: c.spaceNeeded(e)})
	}
	for _, h := range c.onePerEngine(func(h Host, e *Engine) bool { return h.Bridge && !slices.Contains(e.Networks, c.Network) }) {
		networks = append(networks, hostStep(CreateNetwork, h.Name, c.Network))
	}
	return []stage{first, networks, c.checkPorts()}
}

// checkPorts looks for ports that other programs use, before anything is changed. Ports of the cluster's running containers are left out.
func (c *comparison) checkPorts() (s stage) {
	for _, bridge := range []bool{true, false} {
		for _, e := range c.engines {
			var ports []Port
			host := ""
			for _, u := range c.units {
				if u.engine != e || u.up() || (u.Spec.Network != "") != bridge {
					continue
				}
				for _, p := range u.Spec.Ports {
					if !e.hasPort(p.Outside) {
						ports, host = append(ports, p), cmp.Or(host, u.Host)
					}
				}
			}
			if len(ports) > 0 {
				s = append(s, Step{Do: CheckPorts, Host: host, Ports: ports, Bridge: bridge})
			}
		}
	}
	return s
}

// hasPort reports whether a running container of the cluster uses a port of the host.
func (e *Engine) hasPort(port int) bool {
	return slices.ContainsFunc(e.Containers, func(k Container) bool { return k.Running && slices.Contains(k.Ports, port) })
}

// spaceNeeded is about how many bytes new volumes will need on an engine.
func (c *comparison) spaceNeeded(e *Engine) (n int64) {
	for _, u := range c.units {
		if u.engine == e && !e.hasVolume(VolumeName(c.Cluster, u.Name)) {
			n += u.Disk
		}
	}
	return n
}

// removeDuplicates removes other containers of a unit whose desired container runs. They come from an interrupted roll, or from a lost host
// that is back.
func (c *comparison) removeDuplicates([]Step) []stage {
	var s stage
	for _, u := range c.units {
		s = append(s, c.stopAndRemove(u.duplicates)...)
	}
	return []stage{s}
}
