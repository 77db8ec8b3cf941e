// Package report writes an answer and how it was computed as one HTML file that people can keep, send and print.
//
//	Write     the page: answers with charts, rejected rows, times, the cluster
//	Shown     a word of a command line as the page shows it, without passwords
//
// The page has no script and loads nothing, neither from here nor from elsewhere: its policy allows only its own style sheet and its own
// pictures. It shares style, tables and charts with package console. Its size is bounded, whatever the answers are, and it says what it
// leaves out.
package report
