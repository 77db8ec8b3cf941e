package docker

import (
	"context"
	"errors"
	"net"

	"github.com/docker/docker/client"
)

var (
	// ErrNoContainer is wrapped when the engine has no container for a node: it was removed, or never created. Start returns it.
	ErrNoContainer = errors.New("there is no such container")
	// ErrTooOld is wrapped by the errors of all calls to an engine whose API is older than MinVersion.
	ErrTooOld = errors.New("the Docker Engine is too old")
	// ErrDuplicate is wrapped when two running containers have the labels of one node: nobody can say which of them is meant.
	ErrDuplicate = errors.New("there are several containers of one node")
)

// noAnswer reports whether it is unknown if a call was carried out. An answer, even "500", is the engine's decision.
func noAnswer(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || client.IsErrConnectionFailed(err) || errors.As(err, &n)
}
