package agent

import (
	"context"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// processEnd is a process that is not there: one that was seen before, or, with pid 0, none at all.
type processEnd struct {
	who core.NodeID
	pid int
}

// lookEvery is how often processes are looked at: some system calls each.
const lookEvery = 40 * time.Millisecond

// watchProcesses tells the ends of processes until ctx is over, again and again while nothing follows: a hint may be lost on the way to the
// leader. Only a target that was found without a process twice is said to have none: in the middle of a restart there is none for a moment.
func watchProcesses(ctx context.Context, pids medic.Pids, targets []core.NodeID, repeat time.Duration, ends chan<- []processEnd) {
	last := map[core.NodeID]int{}
	told := map[core.NodeID]time.Time{}
	missing := map[core.NodeID]int{}
	for {
		var seen []processEnd
		for _, t := range targets {
			pid, err := pids.Pid(t)
			if err != nil {
				continue // what cannot be seen is no hint
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
		if medic.Sleep(ctx, lookEvery) != nil {
			return
		}
	}
}
