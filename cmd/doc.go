// Package cmd is the posta command: one file per command, and what they share.
//
//	main.go        Main, a program's own main: from arguments to an exit code
//	program.go     defaults of Program
//	app.go         the commands there are, and the text of --help
//	arguments.go   flags may come after arguments: posta run bikes --data DIR
//	exit.go        which exit code an error has, and its text in one line
//	signals.go     the first Ctrl-C ends in order, the second at once
//	flags.go       flags of several commands
//	cluster.go     which cluster is meant: topology, entry points, this machine's processes
//	engines.go     the Docker Engines of the hosts, for posta deploy
//	deploy.go      posta deploy and undeploy: flags; deploy_run.go does it, deploy_progress.go shows it
//	console.go     posta console: what it listens to, and where it serves
//	chaos.go       posta chaos: flags; chaos_inject.go injects faults and reports
//	answer.go      answers as tables, JSON, CSV
//	rejects.go     --strict, --max-rejected, --rejects: rows that cannot be used, looked at before they are sent
//	download.go    files that an answer points to
//
// Every command has the same shape: check what was given, do it, print. Only results go to standard output; progress, notes and errors go
// to standard error. With --json standard output has JSON alone. What a program can do is passed in (Program), so main lists it on one page
// and tests can pass something else.
package cmd
