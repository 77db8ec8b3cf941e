package wal

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdDirEnv); dir != "" {
		holdLock(dir)
	}
	goleak.VerifyTestMain(m)
}
