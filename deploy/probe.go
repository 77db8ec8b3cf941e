// Package deploy has what the parts of posta deploy share: the answers of a probe in a container. The parts are plan, which decides,
// engine, which speaks to Docker, image, which builds the image, lock, which admits one deploy at a time, and apply, which carries out
// plans.
package deploy

import (
	"time"

	"posta.dev/posta/protocol/session"
)

// Program is the path of posta in its image.
const Program = "/bin/posta"

// DiskSpace is the answer of `posta probe room`: bytes of the disk that holds a directory.
type DiskSpace struct {
	Free  int64 `json:"free"`
	Total int64 `json:"total"`
}

// Running is the answer of `posta probe hold`: the sessions that run, and the nodes that still have state of sessions.
type Running struct {
	Sessions []Session      `json:"sessions"`
	Rest     map[string]int `json:"rest"`   // nodes with state of sessions; without outputs, because they keep results
	Silent   []string       `json:"silent"` // inputs that did not answer
}

// Session is a session that runs.
type Session struct {
	ID       session.ID    `json:"id"`
	Analysis string        `json:"analysis"`
	Age      time.Duration `json:"age_ns"`
}

// Answers of `posta probe beat`.
const (
	Up         = "up"
	Recovering = "recovering"
	Silent     = "silent"
)
