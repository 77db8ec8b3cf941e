package docker

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// roleVar makes the test binary what runs in a container.
const roleVar = "POSTA_TEST_ROLE"

// play never returns.
func play(role string) {
	switch role {
	case "polite": // goes when it is asked to
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		os.Exit(0)
	case "brief":
		os.Exit(3)
	default: // looks somebody up, again and again
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if _, err := net.LookupHost(role); err == nil {
				os.Exit(0)
			}
		}
		os.Exit(1)
	}
}
