// Package bench measures what Posta promises about speed, each time beside something plain that does the same on the same
// machine in the same run. It is a program and no test: its figures are for people, and depend on who else uses the machine.
//
// # Words
//
//   - section: one promise: log, csv, link; each analysis end to end beside its oracle: bikes, flights, movies, memes; races.
//   - race: an analysis that many answer, in turns: a line of the table each, over the same bytes (see package sanitize).
//   - contestant: one of them: a variant of the topology, with or without a broker between its nodes, or a single process. One
//     that cannot take part is named, with the reason.
//   - workload: an analysis with its data and its oracle; to measure one more end to end is a line in workloads.
//   - case: one variation of it, such as a frame size; a line of the table.
//   - round: all contestants of a case, once each and one right after the other. The order alternates. The first round warms up
//     and does not count.
//   - figure: what was measured, one value for each round; shown as median (least–most).
//   - ratio: ours over theirs within one round. A disk that is slow for a second is slow for both, so ratios are worth more
//     than the figures that they are made of, and CPU seconds more than seconds.
//
// # Main loop
//
//	for each section, case {
//		for round := range 1 + rounds {
//			measure ours, measure theirs; keep figures and their ratio
//		}
//	}
//	print the table, write JSON and a page with charts
//
// Nodes, the client and the oracle are processes of their own: the program starts itself again (see Child, and package command),
// so that CPU time and memory are each one's own, and what crosses sockets and disks crosses them as it does in a cluster.
//
// # What it never does
//
// It never compares with figures of another run or another machine, never leaves fsync out but for the one contestant that
// is there to show what fsync costs, and never reports a run whose answers differ from the oracle's.
package bench
