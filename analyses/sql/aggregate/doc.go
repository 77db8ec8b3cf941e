// Package aggregate has the aggregates of SQL: count, sum, string_agg, … An aggregate is one file and one line in [All]. The file has its
// declaration and its [State]:
//
//	update     State.Add adds rows to their groups
//	combine    State.Cells says in which cells of a table of package fold a state travels; these are merged as the cells of any table
//	encode     State.Encode writes a state to the cells, and State.Decode reads it again
//	finalize   State.Value gives the value of a group
//	estimate   State.Grow and State.Add return how many more bytes are kept
//
// The same state serves rows that a joiner folds, groups that have been merged, rows in memory and frames of windows. A state whose rows do
// not travel embeds [alone], and needs no cells.
package aggregate
