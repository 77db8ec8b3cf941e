package agent

import (
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

// end is a process that is not there: one that was seen before, or, with pid 0, none at all.
type end struct {
	who core.NodeID
	pid int
}

// lookEvery is how often processes are looked at: some system calls each.
const lookEvery = 40 * time.Millisecond

// lookout tells the ends of processes until stop is closed, again and again while nothing follows: a hint may be lost on the way to the
// leader. That there is no process at all is said when it was missing twice: in the middle of a restart there is none for a moment.
func lookout(pids medic.Pids, targets []core.NodeID, repeat time.Duration, ends chan<- []end, stop <-chan struct{}) {
	last := map[core.NodeID]int{}
	told := map[core.NodeID]time.Time{}
	missing := map[core.NodeID]int{}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		var seen []end
		for _, t := range targets {
			pid, err := pids.Pid(t)
			if err != nil {
				continue // what cannot be seen is no hint
			}
			was := last[t]
			if pid != 0 {
				last[t], missing[t] = pid, 0
				if was != 0 && was != pid {
					seen = append(seen, end{t, was})
				}
				continue
			}
			missing[t]++
			now := time.Now()
			switch {
			case missing[t] == 1 && was == 0:
			case missing[t] == 1:
				seen = append(seen, end{t, was})
			case missing[t] == 2 || now.Sub(told[t]) >= repeat:
				told[t] = now
				seen = append(seen, end{t, 0})
			}
		}
		if len(seen) > 0 {
			select {
			case ends <- seen:
			case <-stop:
				return
			}
		}
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}
