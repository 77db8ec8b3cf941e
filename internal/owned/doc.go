// Package owned keeps files and directories private to the user of this process: nobody else may read, change or replace them
// (S1, S6).
//
//	Check   checks that a directory is ours and closed to others
//	Dir     makes a directory, or closes an existing one to others
//	Tree    is Dir for a directory and everything below it
//	Path    checks that nobody else can replace a directory
//	Writers checks a directory that others may read but not change
//	Write   replaces a file
//	Read    reads a file that nobody else wrote
//	Open    opens or makes a permanent file, such as a lock
//
// What belongs to somebody else is an error that names it. It is never opened, changed or removed: the owner of a directory can put
// anything into it at any time. root is not an exception, because the owner would control what root reads and writes there.
package owned
