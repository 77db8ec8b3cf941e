// Package board is `posta status --watch` on a terminal: a cluster as a full screen, with a view for each key.
//
//	Seen      what was heard of the cluster at one moment
//	Draw      the screen of a view: as many lines as the terminal has, none wider than it (pure)
//	Run       shows it: one goroutine reads keys, one looks at the cluster once a second, and one draws
//
// Signs have a shape, a word and a colour each, so that nothing is lost without colours. Texts from the cluster are escaped before they are
// drawn.
package board
