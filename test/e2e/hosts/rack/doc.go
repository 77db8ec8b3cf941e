// Package rack makes hosts on one machine, for tests: each is a network namespace with an address that nobody outside knows, and below it a
// Docker Engine with its own containerd, images, volumes and firewall. What happens to machines can be done to them.
//
//	                    switch (a namespace with a bridge)
//	                 ┌──────────────┼──────────────┐
//	              operator          a              b          namespaces, one leg each
//	            the test itself   dockerd        dockerd      10.213.N.1, .2, .3
//
//	Unplug, Plug        the leg of a host goes down, and up
//	Cut, Heal           hosts do not reach each other any more, and do again; the operator reaches all of them
//	Impair              a leg takes its time and loses frames
//	Kill, Start         everything on a host is dead at once, and what was on its disk comes back
//
// A leg is a veth pair, and Impair is tc's netem. Where the kernel has no netem, a rack that is to be impaired has wires for legs: two tap
// devices, and a goroutine that carries frames from one to the other, later or never. What is on both sides of it is the kernel's own TCP
// either way.
//
// A host is a PID namespace as well, whose first process (the test's own program, see Main) starts dockerd. Killing that one process kills
// engine, containerd, shims and containers in one step, as pulling a plug does, and the mount namespace takes /run and all mounts with it.
//
// Or the host has systemd for its first process, and no engine (Options.Systemd). Its files are this machine's under a layer of its own, in
// which no unit is enabled.
//
// Everything is named prefix-PID-…, and goes with the test that made it. What a test that was killed has left behind, the next one finds
// by the name and removes (sweep). The package needs root, ip, bridge, nsenter, iptables, and docker with dockerd, or systemd.
package rack
