package nodes

import "posta.dev/posta/nodes/shell"

// committer carries out one job after the other until jobs is closed. It runs in its own goroutine, the only one that
// writes to the log. Heartbeats report a job that takes long.
func committer(log shell.Log, jobs <-chan shell.Job, answers chan<- shell.Answer, beats *beats) {
	defer close(answers)
	for j := range jobs {
		beats.committing(true)
		a := shell.CarryOut(log, j)
		beats.committing(false)
		answers <- a
	}
}
