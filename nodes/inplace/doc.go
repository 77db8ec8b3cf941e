// Package inplace reads files in place, for an input, at a client's request (S8): it opens them below the roots that the topology allows,
// cuts them into pieces of whole records, and checks that they do not change.
//
//	r := inplace.New(roots, ahead)
//	r.Want(shell.Reads())            // at each turn of the loop: begins new files, ends those that are no longer wanted
//	p := <-r.C(reference)            // pieces; those of one file come in order
//	r.Release(pieces)                // frees their memory for further pieces
//	r.Close()
//
// One goroutine reads each file. It reads ahead of the loop, as far as its memory allows. Nothing here is durable: after a crash the input
// asks for the file again, from where the last commit ended.
//
// os.Root opens a path below a root, so no link and no ".." leads out of it. Only regular files are opened. The package compares the size,
// the time of the last change and the inode before the first byte is read and after each piece. At the end it checks that the path still
// leads to that file. It misses a change that keeps the size and happens within the resolution of the file system's clock.
package inplace
