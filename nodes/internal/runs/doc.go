// Package runs keeps data of a role's sessions in files if it is more than memory should hold.
//
// Words. A run is an immutable file with entries in [Buckets] buckets; the hash of an entry's key chooses its bucket ([Bucket]). Entries of
// one key are therefore in the same bucket of all runs of a list, and a role reads one bucket after the other, each from all runs, and has
// only that bucket in memory. A list is the runs of one thing, for example of one table. A [Set] has all lists of a session, a [Store] the
// sets of all sessions of a role.
//
//	b := runs.NewBuilder()
//	for bucket := range runs.Buckets {
//		b.Add(bucket, entry)                   // any number in each bucket, buckets in ascending order
//	}
//	name := store.Open(id).Add(list, b)        // the role then drops the entries from its own memory
//	...
//	err := store.Of(id).Read(list, bucket, func(entry []byte) error { ... })
//	...
//	store.Drop(id)                             // with the session
//
// Why hash order and not sorted keys: a bucket that is read as a whole is merged by lookups in a table of the same kind as the one from
// which the entries came, which is the fastest path there is. A merge of sorted runs compares keys, row by row, in as many places as there
// are runs. Nothing that reads a run needs the order of the keys, because answers are sorted later.
//
// # What a crash leaves
//
// A role calls Add only as part of a call that recovery repeats (role.Spiller). The content of a run is therefore in the records of the
// log, or in a snapshot, until the file is durable; [Store] is a [role.Filer] and keeps to its contract:
//
//  1. Add keeps the content in memory. Its name, which has the content's length and checksum, is in the record of the commit that empties
//     the role's memory. A crash before the file is written loses nothing: recovery repeats the calls and adds the same run under the same
//     name.
//  2. The shell writes the file after that commit: to a temporary name, synced, renamed, directory synced. Then Saved frees the memory.
//  3. A snapshot names the runs, and is saved after their files (shell.Job). The log may then be cut.
//  4. The files of a session are removed after the commit with which it leaves. No run is removed before: a node may fall back to an older
//     snapshot, and repeat calls that read it.
//  5. Files that nothing refers to are swept when a node has recovered.
//
// Each bucket is compared with its checksum when it is read. Damage is an error of that session, which fails with a reason (N6); the node
// continues.
//
// The package reads files through role.SavedReader and writes none itself. It has no clock and no goroutine.
package runs
