// Package lineedit reads lines from a person at a terminal. The person can edit lines, recall earlier ones, and have words completed. The
// editor itself is golang.org/x/term's.
//
//	e := lineedit.Open(lineedit.Config{In: os.Stdin, Out: os.Stderr, History: file, Complete: complete})
//	for {  line, err := e.Line("posta> ")     ErrInterrupted for Ctrl-C, io.EOF for Ctrl-D
//		…
//	}
//
// The terminal is in raw mode only while a line is read. Between lines it is in its former mode, and Ctrl-C sends a signal. Letters that
// are typed then begin the next line; Ctrl-D does not reach it, since the kernel takes it as the end of a line.
package lineedit
