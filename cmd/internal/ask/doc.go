// Package ask answers statements of SQL: posta sql with its prompt, posta submit with a file of statements, and the pages of a console.
//
//	sql.go             the command: reading statements, checking and explaining them
//	answer.go          answering them, in as few sessions as they need
//	journal.go         --journal and --resume: what was answered before
//	prompt.go, words.go, cluster.go  the prompt, its completion and its cluster
//	submit.go          a file of statements on a running cluster
//	console.go         statements that people type into a console
package ask
