package client

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if entry := os.Getenv(stoppedClientsEntry); entry != "" {
		os.Exit(beStopped(entry))
	}
	goleak.VerifyTestMain(m)
}
