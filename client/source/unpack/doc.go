// Package unpack reads files that are compressed. What a file is compressed with is known by its first bytes; its name says only what is
// expected.
//
// gzip, Zstandard, LZ4 and bzip2 are read, also where a file has several members behind each other, as `cat a.gz b.gz` makes them. Other
// formats that people have files in are known as well, and refused with the command that unpacks them.
//
// Memory is bounded by the format and not by the file: a decompressor keeps the last bytes that it made (the window) and one block. gzip
// has 32 KiB, LZ4 at most 4 MiB, bzip2 8 MiB, and Zstandard what the file asks for, of which more than [MaxWindow] is refused. So a file
// of a kilobyte that stands for a terabyte costs time and no memory.
//
// A file that is cut short or damaged is an error that wraps [ErrDamaged] and says so. A file that ends between two members cannot be told
// from a whole one. No goroutine is started.
package unpack
