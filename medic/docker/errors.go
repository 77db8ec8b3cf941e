package docker

import (
	"context"
	"errors"
	"net"

	"github.com/docker/docker/client"
)

var (
	// ErrNoContainer is wrapped when the engine has no container of a node: it was removed, or never made. Start returns it.
	ErrNoContainer = errors.New("there is no such container")
	// ErrTooOld is wrapped by everything that is asked of an engine whose API is older than MinVersion.
	ErrTooOld = errors.New("the Docker Engine is too old")
	// ErrDuplicate is wrapped when two running containers have the labels of one node: nobody can say which of them is meant.
	ErrDuplicate = errors.New("there are several containers of one node")
)

// noAnswer says that nobody knows whether a call was carried out. What the engine answered, even "500", was decided by it.
func noAnswer(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || client.IsErrConnectionFailed(err) || errors.As(err, &n)
}
