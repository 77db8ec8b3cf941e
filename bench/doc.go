// Package bench measures Posta's speed. Each measurement runs next to a simple program that does the same on the same machine
// in the same run. It is a program and not a test, because its figures depend on what else runs on the machine, and people
// have to judge them.
//
// # Words
//
//   - section: what one table is about: log, csv, link; each analysis end to end beside its oracle: bikes, flights, movies,
//     memes; races.
//   - race: one analysis, answered by many contestants in turns, over the same bytes (see package sanitize). Each contestant
//     is a line of the table.
//   - contestant: a program in a race: a variant of the topology, with or without a broker between its nodes, or a single
//     process. A contestant that cannot take part is listed with the reason.
//   - workload: an analysis with its data. One line in workloads adds another analysis.
//   - case: one variation within a section, such as a frame size; a line of the table.
//   - round: all contestants of a case run once, one right after the other. The order alternates. The first round warms up
//     and does not count.
//   - figure: a measured quantity with one value for each round; shown as median (least–most).
//   - ratio: ours over theirs within one round. A disk that is slow for a second is slow for both. So ratios are more
//     reliable than their figures, and CPU seconds more than seconds.
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
// Nodes, the client and the oracle are separate processes: the program starts itself again (see Child, and package command), and
// builds the oracle's, because posta contains none (see Oracle). So CPU time and memory are measured for each of them, and data
// crosses sockets and disks as in a real cluster.
//
// # What it never does
//
// It never compares with figures of another run or another machine. It never omits fsync, except in the one contestant that
// shows what fsync costs. It never reports a run whose answers differ from the oracle's.
package bench
