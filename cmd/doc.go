// Package cmd is the posta command: from the arguments of a program to its exit code.
//
//	main.go        Main, a program's own main
//	program.go     Program, what a program can do, and its defaults
//	command.go     one call of the program
//	app.go         the commands there are, and wrong use of them
//	arguments.go   flags may come after arguments: posta run bikes --data DIR
//	flags.go       how flags are shown
//	help.go        the layout of --help; man.go, the manual
//	completion.go  what a shell offers at the tab key
//	signals.go     the first Ctrl-C ends in order, the second at once
//
// The commands are in packages below internal, one for each group:
//
//	about, connect, logs    commands that need no cluster, or only forward to one
//	cluster, deploy, key    making clusters of processes and of containers, and their keys
//	member                  the processes of a cluster: node, medic, probe
//	status, traces, chaos, consoles, sessions  looking at a cluster, and disturbing it
//	run, submit, ask        analyses and statements
//
// Imports run one way: commands import what several of them share (upload, deliver, rejects, reach, keyring, and the packages that know no
// flags), these import call and exit, and none imports cmd.
//
// Every command has the same shape: check what was given, do it, print. Only results go to standard output; progress, notes and errors go
// to standard error. With --json standard output has JSON alone. What a program can do is passed in (Program), so main lists it on one page
// and tests can pass something else.
package cmd
