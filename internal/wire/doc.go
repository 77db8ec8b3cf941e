// Package wire writes and reads the few msgpack forms that Posta's frames are made of, without reflection and without
// allocation.
//
// The msgpack library decodes into Go values; that costs hundreds of nanoseconds for a small struct, and a length that a
// peer made up is believed until the memory is gone (design §10). Headers of frames are read a quarter of a million times
// a second and come from the network, so here every form is appended by hand and read through a [Reader] that checks each
// length against the bytes that are left before it is used. What is written is plain msgpack: any library can read it.
//
// The package never allocates on behalf of a length it has read, never returns interface values, and never panics on
// input.
package wire
