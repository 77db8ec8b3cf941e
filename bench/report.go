package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Report is the result of a run, as it is written to files.
type Report struct {
	Date     time.Time `json:"date"`
	Commit   string    `json:"commit"`
	Command  []string  `json:"command"`
	Machine  Machine   `json:"machine"`
	Rounds   int       `json:"rounds"`
	Cold     bool      `json:"cold,omitempty"` // no round was for warming up
	Sections []Section `json:"sections"`

	Versions map[string]string `json:"versions,omitempty"` // of contestants that are not Posta's
}

// Machine is where the bench ran. Load is the average of the minute before. On a busy machine only ratios are meaningful.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	Memory    string `json:"memory"`
	OS        string `json:"os"`
	Go        string `json:"go"`
	Load      string `json:"load"`
}

// thisMachine describes the machine. Fields that the system does not report stay empty.
func thisMachine() Machine {
	return Machine{
		Processor: lineValue("/proc/cpuinfo", "model name"),
		Memory:    lineValue("/proc/meminfo", "MemTotal"),
		Cores:     runtime.NumCPU(),
		OS:        runtime.GOOS + "/" + runtime.GOARCH,
		Go:        runtime.Version(),
		Load:      load(),
	}
}

// lineValue returns what follows the colon in the first line of file that begins with key.
func lineValue(file, key string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			_, value, _ := strings.Cut(rest, ":")
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// commit describes the commit of the working tree as git does, "" outside of a working tree.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Write puts the report into two files of dir whose names have its date, JSON and an HTML page, and returns their names.
func (r *Report) Write(dir string) (names []string, err error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	name := filepath.Join(dir, r.Date.UTC().Format("2006-01-02T15-04-05"))
	if err == nil {
		err = os.WriteFile(name+".json", append(b, '\n'), 0o644)
	}
	var page []byte
	if err == nil {
		page, err = r.page()
	}
	if err == nil {
		err = os.WriteFile(name+".html", page, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	return []string{name + ".json", name + ".html"}, nil
}
