package soak

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Look returns what a process holds now, and false if it has just ended. metrics is the address of its metrics, dir its data directory.
func Look(pid int, metrics, dir string) (p Process, alive bool) {
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	status, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || err2 != nil {
		return p, false
	}
	_, rest, resident := strings.Cut(string(status), "\nVmRSS:")
	if !resident { // a zombie
		return p, false
	}
	kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return Process{PID: pid, Memory: kb << 10, Files: len(files), Goroutines: goroutines(metrics), Disk: below(dir)}, true
}

// below returns how many bytes the files below a directory take on the disk. Files come and go meanwhile.
func below(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return nil //nolint:nilerr // it has been deleted
		}
		if i, err := f.Info(); err == nil {
			sum += i.Size()
		}
		return nil
	})
	return sum
}

// goroutines asks a process for the number of its goroutines; 0 if it does not answer within a moment: it may be stopped.
func goroutines(address string) int {
	c := http.Client{Timeout: 200 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get("http://" + address + "/metrics")
	if err != nil {
		return 0
	}
	defer func() { _ = r.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	_, rest, found := strings.Cut(string(page), "\ngo_goroutines")
	if err != nil || !found {
		return 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
	return n
}

// CPUTime returns the user and system time that a process has used, in seconds; 0 if it has ended.
func CPUTime(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, found := strings.Cut(string(b), ") ")
	if f := strings.Fields(rest); err == nil && found && len(f) > 12 {
		user, _ := strconv.ParseFloat(f[11], 64)
		system, _ := strconv.ParseFloat(f[12], 64)
		return (user + system) / 100
	}
	return 0
}

// Load returns the load of the machine over the last minute.
func Load() float64 {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
