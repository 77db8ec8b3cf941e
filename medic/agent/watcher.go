package agent

import (
	"context"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
	"posta.dev/posta/nodes/heartbeat"
)

// processEnd reports that the process pid has ended, or, with pid 0, that the target has no process.
type processEnd struct {
	who core.NodeID
	pid int
}

// lookEvery is the pause between two looks at the processes; a look costs one system call for each process. Two looks are at least half of
// that pause apart, and most coincide with the medic's ticks.
const lookEvery = 50 * time.Millisecond

// watchProcesses reports processes that have ended until ctx ends. It repeats each report while there is no new process, because a hint may
// be lost on the way to the leader. It reports a target without a process only after two looks, because during a restart there is none for
// a moment.
func watchProcesses(ctx context.Context, pids medic.Pids, targets []core.NodeID, repeat time.Duration, ends chan<- []processEnd) {
	last := map[core.NodeID]int{}
	told := map[core.NodeID]time.Time{}
	missing := map[core.NodeID]int{}
	for {
		var seen []processEnd
		for _, t := range targets {
			pid, err := pids.Pid(t)
			if err != nil {
				continue // an error is not a hint
			}
			was := last[t]
			if pid != 0 {
				last[t], missing[t] = pid, 0
				if was != 0 && was != pid {
					seen = append(seen, processEnd{t, was})
				}
				continue
			}
			missing[t]++
			now := time.Now()
			switch {
			case missing[t] == 1 && was == 0:
			case missing[t] == 1:
				seen = append(seen, processEnd{t, was})
			case missing[t] == 2 || now.Sub(told[t]) >= repeat:
				told[t] = now
				seen = append(seen, processEnd{t, 0})
			}
		}
		if len(seen) > 0 {
			select {
			case ends <- seen:
			case <-ctx.Done():
			}
		}
		pause := heartbeat.Next(time.Now(), lookEvery)
		if pause < lookEvery/2 {
			pause += lookEvery
		}
		if medic.Sleep(ctx, pause) != nil {
			return
		}
	}
}
