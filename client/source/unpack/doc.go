// Package unpack reads files that are compressed. The first bytes of a file tell how it is compressed; its name only says what is expected.
//
// gzip, Zstandard, LZ4 and bzip2 are read, also if a file has several members one after the other, as `cat a.gz b.gz` makes them. Other
// common formats are recognised and refused, with the command that unpacks them.
//
// The format bounds the memory, not the file: a decompressor keeps the last bytes of its output (the window) and one block. gzip needs 32
// KiB, LZ4 at most 4 MiB, bzip2 8 MiB. Zstandard needs what the file asks for; more than [MaxWindow] is refused. So a file of a kilobyte
// that unpacks to a terabyte costs time, but no memory.
//
// For a file that is cut short or damaged, the error wraps [ErrDamaged]. A file that was cut between two members looks complete. No
// goroutine is started.
package unpack
