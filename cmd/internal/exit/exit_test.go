package exit

import (
	"fmt"
	"testing"

	"posta.dev/posta/protocol"
)

// TestS5_NotPermittedIsExitCode2: the code means wrong use, because only another role helps, and trying again does not. A session of
// another owner is reported as unknown.
func TestS5_NotPermittedIsExitCode2(t *testing.T) {
	for code, want := range map[protocol.Code]int{protocol.ErrForbidden: Usage, protocol.ErrUnknownSession: Session,
		protocol.ErrInUse: InUse} {
		if got := Code(fmt.Errorf("results of a session: %w", &protocol.Error{Code: code})); got != want {
			t.Errorf("%s is exit code %d, not %d", code, got, want)
		}
	}
}
