package nodes

import (
	"time"

	"posta.dev/posta/nodes/shell"
)

// committer carries out one job after the other until jobs is closed. It runs in its own goroutine, the only one that
// writes to the log. Heartbeats report a job that takes long. The log adds to synced how long its fsyncs take.
func committer(log shell.Log, jobs <-chan shell.Job, answers chan<- shell.Answer, beats *beats, synced *time.Duration) {
	defer close(answers)
	for j := range jobs {
		beats.committing(true)
		*synced = 0
		a := shell.CarryOut(log, j)
		a.Synced = *synced
		beats.committing(false)
		answers <- a
	}
}
