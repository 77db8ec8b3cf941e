// Package report writes what a command found, and how, as one HTML file that people can keep, send and print.
//
//	Write     the page: answers with charts, rejected rows, times, the cluster
//	Shown     a word of a command line as the page shows it, without passwords
//
// The page has no script and loads nothing, from here or from elsewhere: its policy allows its own style sheet and its own pictures, and nothing else.
// It shares style, tables and charts with package console. Its size is bounded, whatever the answers are, and it says what it leaves out.
package report
