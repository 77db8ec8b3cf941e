// Package wire writes and reads the few msgpack forms of Posta's frames, without reflection and without allocation.
//
// The msgpack library decodes into Go values. That costs hundreds of nanoseconds for a small struct, and it trusts a length
// that a peer has made up until the memory is exhausted (design §10). Headers of frames are read a quarter of a million times
// a second and come from the network. So here every form is appended by hand, and read through a [Reader] that checks each
// length against the remaining bytes before it is used. The output is plain msgpack, which any library can read.
//
// The package never allocates because of a length it has read, never returns interface values, and never panics on input.
package wire
