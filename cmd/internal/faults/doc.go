// Package faults injects faults into nodes and medics, for `posta chaos`. There is one Injector for each way in which they run.
//
//	Processes   signals
//	Containers  signals over the engine, and the network
//
// The caller chooses target, fault and time. Medics repair the consequences.
package faults
