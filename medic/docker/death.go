package docker

import (
	"strings"
	"syscall"

	"github.com/docker/docker/api/types/container"

	"posta.dev/posta/medic"
)

// deathOf returns how the container's last process ended. Like a shell, the engine reports 128 + n for a process that was killed by signal
// n.
func deathOf(s *container.State) medic.Death {
	const signalled, lastSignal = 128, 31
	switch code := s.ExitCode; {
	case s.Running || s.Restarting || neverStarted(s) && s.Error == "":
		return medic.Death{}
	case s.OOMKilled:
		return medic.OutOfMemory("killed: it reached the memory limit of its container")
	case s.Error != "":
		return medic.Death{Cause: "the engine could not start it: " + strings.TrimSpace(s.Error)}
	case code > signalled && code <= signalled+lastSignal:
		return medic.Signalled(syscall.Signal(code - signalled))
	default:
		return medic.Exited(code)
	}
}

func neverStarted(s *container.State) bool {
	return s.StartedAt == "" || strings.HasPrefix(s.StartedAt, "0001-")
}
