// Package upload has what posta run and posta submit do alike: it reads which files to send and how, sends them, and prints the answer.
//
//	flags.go   the flags
//	upload.go  the request, and carrying it out
//	late.go    why a session takes too long
package upload
