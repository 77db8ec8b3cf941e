// Package owned keeps files and directories to the user of this process: nobody else may read, change or replace them (S1, S6).
//
//	Check   a directory that is there: ours, and closed to others
//	Dir     makes a directory, or closes the one that is there
//	Tree    Dir, and all that is below it
//	Path    the way to a directory: nobody else can replace it
//	Writers a directory that others may read and not change
//	Write   replaces a file
//	Read    reads one that nobody else wrote
//	Open    opens or makes one that stays, as a lock
//
// What belongs to somebody else is an error that names it. It is never opened, changed or removed: who owns a directory can put
// anything into it at any time. root is not an exception, because what it reads and writes there would be under that user's control.
package owned
