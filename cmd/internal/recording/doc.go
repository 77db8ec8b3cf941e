// Package recording makes a picture of a terminal session, for the README.
//
//	Screen    what stands on a terminal, line by line, and from when to when
//	SVG       the picture: the session plays in its own time, and ends with what stood there at last
//
// It knows the control sequences that posta writes outside of full screens, and refuses others. Tests alone use it.
package recording
