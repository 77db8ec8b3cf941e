// Package web reads files over HTTP and HTTPS, each once from its beginning to its end.
//
// A connection that is cut, or says nothing for a minute, is made again, and goes on behind the last byte that came: several times in a row with growing pauses, as
// long as it takes where bytes come in between. What comes is of one file: the server has to name the same ETag, or the same Last-Modified, and the same size
// each time. A file that changes in between is an error, and so is a cut where the server names neither.
//
// What is told to people is the address without user, password and query, any of which may be secret. Close ends a Read and the connection.
package web
