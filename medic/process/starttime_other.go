//go:build !linux

package process

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
)

// startTime asks ps, whose answer is exact to a second; no pid is used again within a second. It returns "" if there is no such process, or
// only a zombie of it.
func startTime(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "stat=", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", nil // ps found none
	}
	if err != nil {
		return "", err
	}
	state, born, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if strings.HasPrefix(state, "Z") {
		return "", nil
	}
	return strings.Join(strings.Fields(born), " "), nil
}
