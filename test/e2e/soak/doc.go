// Package soak records what a cluster holds while sessions and faults go on for hours, and says whether it grows.
//
//	Sample   one line of a record: what each process holds, how sessions ended
//	Look     what one process holds now
//	Report   the figures of a record: medians by minute, and the slope of each process by hour
//	Picture  the same as SVG
//
// TestSoak in test/e2e/medics runs the cluster and writes the record; the program in report makes the page and the picture of one, whether
// its soak is over or not. Nodes and medics that faults may hit begin with empty memory again and again. So some are spared: only these
// show whether memory, files and goroutines grow over hours. Whatever is suspected of them is a false suspicion.
package soak
