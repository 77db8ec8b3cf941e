//go:build !linux

package bootclock

import "golang.org/x/sys/unix"

// bootID names the machine's present boot; "" if it cannot be read.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
