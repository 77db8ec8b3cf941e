// Package recording makes a picture of a terminal session, for the README.
//
//	Screen    the lines of a terminal, each with the times when it appeared and disappeared
//	SVG       the picture: it plays the session in real time, and ends with the last state of the terminal
//
// It knows the control sequences that posta writes outside of full screens, and refuses others. Only tests use it.
package recording
