package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Sample is one line of a record.
type Sample struct {
	At        time.Time          `json:"at"`
	Stood     float64            `json:"stood_s,omitempty"` // how long the machine stood still in the interval, or had no time for the soak
	Load      float64            `json:"load"`              // of the machine, over a minute
	CPU       float64            `json:"cpu_s"`             // user and system time of all processes of the soak in the interval
	Processes map[string]Process `json:"processes"`         // nodes and medics; one without a process is missing
	Ended     []Ended            `json:"ended"`             // sessions that ended in the interval
	Faults    int                `json:"faults"`            // injected in the interval
	Suspected []string           `json:"suspected"`         // nodes and medics that the journal began to report in the interval
}

// Process is what one process holds.
type Process struct {
	PID        int   `json:"pid"`
	Memory     int64 `json:"memory"`     // bytes, resident
	Files      int   `json:"files"`      // open descriptors
	Goroutines int   `json:"goroutines"` // 0 if it did not answer
	Disk       int64 `json:"disk"`       // bytes below its data directory
	Spared     bool  `json:"spared,omitempty"`
}

// Ended is one session.
type Ended struct {
	Kind    string  `json:"kind"`
	Outcome Outcome `json:"outcome"`
	Seconds float64 `json:"s"`
}

// Outcome of a session.
type Outcome string

// The outcomes.
const (
	Right  Outcome = "right"  // the oracle's answer
	Failed Outcome = "failed" // in words
	Wrong  Outcome = "wrong"  // another answer, or an end without a reason
	Hung   Outcome = "hung"   // no end in time
)

// Write appends a sample to a record.
func Write(w io.Writer, s *Sample) error {
	b, err := json.Marshal(s)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// Read returns the samples of a record. A last line that was cut off, because the record is still written or its writer was killed, is left
// out.
func Read(r io.Reader) (all []Sample, err error) {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("read a soak's record: %w", err)
		}
		var s Sample
		if err := json.Unmarshal(line, &s); err != nil {
			return all, fmt.Errorf("line %d of a soak's record: %w", n, err)
		}
		all = append(all, s)
	}
}
