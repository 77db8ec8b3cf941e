// Package deliver brings answers to where they are wanted: to the screen, to files, to a database, into a report, and it saves files that
// answers point to.
//
//	answer.go    tables, JSON and rows; --out, --to
//	report.go    --html
//	download.go  --download
//	order.go     answers of sessions that others have opened
package deliver
