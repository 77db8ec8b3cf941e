package cmd

import (
	"fmt"
	"testing"

	"posta.dev/posta/protocol"
)

// TestS5_NotPermittedIsExitCode2: the code means wrong use, because only another role helps, and trying again does not. A session of
// another owner is reported as unknown.
func TestS5_NotPermittedIsExitCode2(t *testing.T) {
	for code, want := range map[protocol.Code]int{protocol.ErrForbidden: exitUsage, protocol.ErrUnknownSession: exitSession,
		protocol.ErrInUse: exitInUse} {
		if got := exitCode(fmt.Errorf("results of a session: %w", &protocol.Error{Code: code})); got != want {
			t.Errorf("%s is exit code %d, not %d", code, got, want)
		}
	}
}
