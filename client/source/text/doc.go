// Package text finds out how the characters of a text file are encoded and what separates its columns, before the file is cut. It reads the
// beginning of the file, up to the end of the first line, and hands out a reader of the whole.
//
// UTF-16 is turned into UTF-8, with either order of bytes, with or without a byte order mark. UTF-8 passes unchanged.
//
// A file's separator may be comma, semicolon, tab or vertical bar. The one is taken with which the header has the needed columns; the
// stream's own separator is tried first. If the needed columns are not known, or no separator gives them, it is the stream's separator if
// the header has it, and otherwise the one that makes the most columns. So a header that lacks needed columns does not fail here, but where
// the columns are looked for.
//
// No goroutine is started. Memory is that of the first line, of which at most [MaxFirstLine] bytes are looked at.
package text
