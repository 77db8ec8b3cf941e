// Package medicsim runs the real cores of medics over a simulated network, disks and hosts, and injects faults: messages are lost, late and
// repeated, hosts are cut off from each other, processes are killed, stopped and continued, or crash as soon as they start, and whole
// machines sleep. docs/measurements/medics.md describes it in detail.
//
//	world    everything of one run: clock, queue of events, the one source of chance
//	host     what outlives processes: the fence, and when each target was started
//	process  one incarnation of a node or a medic
//	checker  checks from outside what must never happen: one checker for each rule, M1 to M8 and N9
//
// A run has two phases. While faults are injected, only safety is demanded. Then no more faults are injected, but processes that are dead,
// hung or stopped get no help, and everything must recover: one leader, all nodes and medics alive, the same journal everywhere. The
// package starts no goroutine and reads no clock: the same seed is the same run.
package medicsim
