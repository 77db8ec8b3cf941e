// Package web reads files over HTTP and HTTPS, each once from its beginning to its end.
//
// A connection that is cut, or silent for a minute, is made again and continues after the last byte that came. After several failures in a
// row, with growing pauses, the read fails; each byte that comes starts the count again. All bytes have to be of one file: the server has
// to name the same ETag, the same Last-Modified and the same size each time. It is an error if the file changes in between, or if the
// connection is cut and the server names neither ETag nor Last-Modified.
//
// A body whose end the server does not mark ends where its connection does. With TLS, a connection that ends without the server's close
// notify is cut. Without TLS, a cut cannot be told from an end, and As.Warn is told so.
//
// Errors that another try would not change fail at once: refused connections, unknown hosts, handshakes of TLS that fail. No redirect leads
// from https to http.
//
// People are shown the address without user, password and query, any of which may be secret. Close ends a Read and the connection.
package web
