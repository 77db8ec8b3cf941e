// Package lastlog keeps the last lines of a process's log in memory, so that a person who may watch the cluster can see them without access
// to the host.
//
//	Ring     the lines, bounded in number and in bytes
//	In       puts a ring behind a logger
//	hide     removes passwords, tokens and keys from a line before it is kept
//	Report   what a node sends to those who ask
//
// The ring reads no file and takes no part in the work of a node: a line that is not kept is lost for pages only.
package lastlog
