package deploy

import (
	"time"

	"posta.dev/posta/cmd/internal/call"
)

// command is posta deploy and posta undeploy.
type command struct {
	*call.Call
	plan     bool
	program  string
	image    string
	kind     string // of files to write, instead of deploying
	rollback bool
	lose     bool          // answers that clients have not fetched
	beat     time.Duration // to wait for each heartbeat
	wait     time.Duration // for running sessions
	cancel   bool          // sessions, instead of waiting for them
	volumes  bool
	yes      bool
	follow   bool
	tail     string
	json     bool
}

const (
	flagPlan     = "plan"
	flagProgram  = "program"
	flagImage    = "image"
	flagRollback = "rollback"
	flagLose     = "lose-results"
	flagWait     = "wait"
	flagCancel   = "cancel-sessions"
	FlagLost     = "lost"
	flagVolumes  = "volumes"
	flagYes      = "yes"
)
