package status

import (
	"time"

	"posta.dev/posta/cmd/internal/call"
)

// command is posta status.
type command struct {
	*call.Call
	watch bool
	json  bool
}

const watchEvery = time.Second
