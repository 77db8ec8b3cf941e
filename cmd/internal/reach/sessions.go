package reach

import (
	"context"
	"errors"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// SessionsOf asks a cluster for its sessions over a new connection, so that it finds nodes that have moved since.
func SessionsOf(ctx context.Context, cfg client.Config) (all []protocol.SessionInfo, err error) {
	cl, err := client.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	return cl.Sessions(ctx)
}

// AskedFor is how long inputs and outputs have to report the running sessions. Nodes and medics are shown even if they do not answer.
const AskedFor = time.Second
