package docker

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// roleVar is the environment variable that makes the test binary the program in a container.
const roleVar = "POSTA_TEST_ROLE"

// play runs as the program in a container. It never returns.
func play(role string) {
	switch role {
	case "polite": // ends at SIGTERM
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		os.Exit(0)
	case "brief":
		os.Exit(3)
	default: // looks up a name, again and again
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if _, err := net.LookupHost(role); err == nil {
				os.Exit(0)
			}
		}
		os.Exit(1)
	}
}
