// Package apply carries out plans, stage by stage. In a stage the engines work at the same time, and each does its steps one by one. A step
// whose outcome is unknown is tried again. A step that fails ends the run after the steps that run at the same time are done; the error
// names the step and its host.
//
//	apply.go   Run: stages, steps, retries
//	hold.go    keeps new sessions out, and waits for running ones
//	medics.go  stops medics until none runs
//	wait.go    polling, heartbeats, free space
//
// It stores nothing. After an interruption the caller makes a new plan.
package apply
