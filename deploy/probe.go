// Package deploy holds what the parts of posta deploy have in common: what a probe in a container says. Its parts are plan, which decides,
// engine, which speaks to Docker, image, which makes what is shipped, lock, which
// keeps two programs apart, and apply, which carries plans out.
package deploy

import (
	"time"

	"posta.dev/posta/protocol/session"
)

// Program is posta in its image.
const Program = "/bin/posta"

// DiskSpace is what `posta probe room` says: bytes of the disk that holds a directory.
type DiskSpace struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

// Running is what `posta probe hold` says: the sessions that run, and what nodes still have of sessions.
type Running struct {
	Sessions []Session      `json:"sessions"`
	Rest     map[string]int `json:"rest"`   // nodes with state of sessions, outputs left out: they keep results
	Silent   []string       `json:"silent"` // inputs that did not answer
}

// Session runs.
type Session struct {
	ID       session.ID    `json:"id"`
	Analysis string        `json:"analysis"`
	Age      time.Duration `json:"age_ns"`
}

// States that `posta probe beat` says.
const (
	Up         = "up"
	Recovering = "recovering"
	Silent     = "silent"
)
