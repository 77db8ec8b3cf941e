// Package local runs an analysis in one process, without network or log. Its parsers, joiners, aggregators and reducer pass
// each other the same bytes that the engine sends. Tests use it to compare analyses with their oracles. It also shows in few
// lines how an engine calls an [analyses.Analysis]:
//
//	for each chunk of a reference stream       parse → every joiner's Reference
//	for each chunk of a fact stream            parse → one joiner's Facts
//	with a seed, now and then                  parse → Fold in place of Facts, where the analysis has a Folder
//	now and then, and at the end               Flush → tables → partitions → Merge in each aggregator
//	rejected rows                              a table more, number len(Analysis.Tables), on the same way
//	all facts in                               reducer merges the aggregators' tables → Reduce
//	after a crash of a joiner                  a new one, Reference with all batches again; what Flush gives then was sent
//	                                           before the crash and is thrown away
//
// With a seed, everything that the engine leaves open is random: sizes of chunks, interleaving of files, which joiner gets a
// batch, the order of reference batches in each joiner, when a joiner flushes and crashes, and the order of partials. The
// answers must not depend on any of these (design D1).
//
// Files are streamed. Only reference batches are kept, as a joiner keeps them.
package local
