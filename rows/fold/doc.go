// Package fold holds tables of keyed aggregates: the only state between joiner, aggregator and reducer.
//
// Words. A [Spec] names a table's keys and aggregates. A [Table] has one row per distinct key; a row's cells are added to,
// never set, so that two tables of one spec merge in any order to the same table, to the last bit (design D1). A partial is
// the wire form of some rows. A partition is the rows whose key has a certain hash modulo the number of partitions.
//
//	t := fold.NewTable(&spec)
//	row := t.Row(t.Key().Text(city).Text(station).Int(year)) // finds or adds
//	t.AddSum(row, trips, 1)
//	...
//	for p, rows := range t.Partition(aggregators) {
//		send(p, t.AppendRows(nil, rows))
//	}
//	t.Reset()
//
//	err := merged.Merge(payload) // at the aggregator, of every sender
//	for _, row := range merged.Sorted(nil) { ... merged.KeyText(row, 0), merged.Sum(row, trips) ... }
//
// A key is looked up only where equal keys may meet: in joiners ([NewOutgoing]), unless the spec says that keys hardly repeat
// there ([Late]), and in aggregators ([NewTable]). A reducer's table ([NewUnion]) gets each key once. Rows that are a list and
// not groups form a bag ([Never]), whose keys are never looked up.
//
// Every aggregate is commutative and associative, and has an identity with which a new row starts: 0 for sums, no text for a
// minimum. Aggregates need these properties, so there is no average, no "first" and no "last". These are built from sums, and
// from minima over an order-preserving encoding (see [AppendText], [AppendInt]).
//
// State is bounded by the number of distinct keys, except for bags and for the numbers in [Counts]. Keys lie end to end in blocks, with
// an open-addressing table over them. The cells of each aggregate are in blocks, too. So nothing is allocated per row, or copied when a
// table grows.
//
// Payloads come from the network: [Table.Merge] checks every length and never panics on them. The analyses contain the kinds
// and indexes of columns, so mixing these up is a mistake of the program and panics. A Table has no goroutines and no clock.
// Only one goroutine at a time may use it.
package fold
