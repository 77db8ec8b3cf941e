// Package call holds what all commands of posta share: one call of the program, with its analyses, its input and output, its end at a
// signal, and the flags that many commands have.
//
//	call.go        Call: results to standard output, notes to standard error
//	events.go      --events: progress, answer and error for the program that called this one
//	flags.go       flags and arguments of many commands
//	terminal.go    is the output a terminal, and how wide; progress
//	interrupts.go  commands that handle Ctrl-C themselves
//
// Packages of commands embed *Call in a small struct for each command, which also has the values of its flags. No package of
// cmd/internal imports cmd.
package call
