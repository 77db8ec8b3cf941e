package docker

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		play(role)
	}
	goleak.VerifyTestMain(m)
}
