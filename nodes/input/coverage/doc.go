// Package coverage keeps what an input has taken of each file of a session, so that another client can continue with the upload. That
// client asks every input, and sends what none of them has (R17).
//
// The words:
//
//	piece    consecutive records of one file: from, to, and the CRC32C of their bytes. Pieces that touch are joined, and the
//	         checksum of the result follows from theirs. So a file that went through one input is a few pieces, whatever its length
//	offset   how many bytes of the file's records come before, as its chunks carry them. The header does not count. For a packed file or
//	         JSON Lines, the bytes that the client made of the file count
//	full     the set has outgrown its bound, or a chunk came without a place. The set then reports nothing more, and no other client can
//	         continue with the upload; for the client that runs nothing changes (R16)
//
// The checksums show that a client has the same files: the client reads the parts that were taken, and compares. No other property of a
// file suffices. Sizes and samples are equal in files that differ in one digit, and modification times differ in copies.
//
// A set never counts the bytes of a file twice. It refuses a chunk if a part of it was taken already.
package coverage
