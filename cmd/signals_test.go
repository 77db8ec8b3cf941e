package cmd

import (
	"syscall"
	"testing"
	"time"
)

// A node that drains outlives any number of signals: its drain has an end of its own, and a signal must not cut it short.
func TestASignalDoesNotCutADrainShort(t *testing.T) {
	s := listenToSignals(true)
	defer s.stop()
	kill := func() {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	<-s.graceful.Done()
	kill()
	<-s.forced.Done()
	for range 3 {
		kill() // this test would end here
		time.Sleep(20 * time.Millisecond)
	}
}
