// Package medicsim runs the real cores of medics over a simulated network, disks and hosts, and does to them what the world does: messages are
// lost, late and repeated, hosts are cut off from each other, processes are killed, stopped and let continue, crash as soon as they start, and
// whole machines sleep. docs/medics.md tells it at length.
//
//	world    everything of one run: clock, queue of events, the one source of chance
//	host     what outlives processes: the fence, who was started when
//	process  a node or a medic, in one of its lives
//	checker  what must never happen, looked at from outside: one checker for each rule, M1 to M8
//
// A run has two phases. While faults are injected only safety is demanded. Then faults stop, though nobody who is dead, hung or stopped is
// helped, and everything must come back: one leader, all nodes and medics alive, one journal everywhere. The package starts no
// goroutine and reads no clock: a seed is a run.
package medicsim
