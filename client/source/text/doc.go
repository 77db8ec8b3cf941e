// Package text finds out what a text file is, before anything of it is cut: how its characters are encoded and what separates its columns. It reads the
// beginning of the file, up to the end of the first line, and hands out a reader of the whole.
//
// UTF-16 is turned into UTF-8, with either order of bytes, with a byte order mark or without. UTF-8 passes as it is.
//
// Of the separators a file may have (comma, semicolon, tab, vertical bar) that is taken with which its header has the columns that are needed, and that
// of the stream before others. Where these are not known, or nowhere there, it is that of the stream if it is in the header, and else the one that
// makes the most columns. So a header without the columns that are needed is still an error of whoever looks for them.
//
// No goroutine is started; memory is that of the first line, of which at most [MaxFirstLine] is looked at.
package text
