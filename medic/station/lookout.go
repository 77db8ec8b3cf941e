package station

import (
	"time"

	"posta/medic/core"
	"posta/medic/host"
)

// end is a process that is not there: one that was seen before, or, with pid 0, none at all.
type end struct {
	who core.NodeID
	pid int
}

// lookEvery is how often processes are looked at: some system calls each.
const lookEvery = 40 * time.Millisecond

// lookout tells the ends of processes until stop is closed. Each is told for a while, because a hint may be lost on the way to the leader.
func lookout(pids host.Pids, targets []core.NodeID, repeat time.Duration, ends chan<- []end, stop <-chan struct{}) {
	last := map[core.NodeID]int{}
	told := map[core.NodeID]time.Time{}
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
				last[t] = pid
			}
			if pid == was && pid != 0 || pid != 0 && was == 0 {
				continue
			}
			if now := time.Now(); pid != 0 || now.Sub(told[t]) >= repeat {
				told[t] = now
				seen = append(seen, end{t, was})
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
