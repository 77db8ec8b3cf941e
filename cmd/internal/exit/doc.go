// Package exit turns errors into what a caller of posta sees: an exit code, lines for people, and one word for programs.
//
//	exit.go      the codes, the errors that only commands have, and Code
//	rowerror.go  the texts of errors that rows cause
//	event.go     the word for programs that read the events
//
// It prints nothing: package cmd does, once, when a command has ended.
package exit
