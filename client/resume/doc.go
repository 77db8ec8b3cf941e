// Package resume finds out what is left to send of a session whose client is gone, and whether the files are the same (R17). It reads no
// file and has no socket: the code that cuts the files asks it how far to cut, and shows it what was cut.
//
// The words:
//
//	taken   pieces of the files' records that any input has, with their checksums
//	File    how far one file has been read: the next bytes were taken, and are compared, or they were not, and are sent
//
// The loop, for each file from its beginning, first to compare and then to send:
//
//	f := taken.File(stream, name)
//	err := f.Size(bytes)              // if the size is known
//	err := f.Header(header)
//	most, was := f.Next(chunk)        // cut at most so much
//	err := f.Cut(records, was)        // an error at the end of a piece that differs
//	err := f.End()
//
// Nothing is sent before all files were compared, because rows of a wrong file cannot be taken back. Every byte that was taken is compared.
// For bytes that were not taken there is nothing to compare with, and no need: the cluster has never seen them. So the answer is that of
// the files as they are now, as if one client had sent them all, or there is no answer.
//
// Files are read from the beginning, although the offsets of the gaps are known, for three reasons. A packed file cannot be read otherwise.
// The line of a record is known only by reading all before it, because quoted fields may have line ends. And what was taken has to be
// compared anyway.
package resume
