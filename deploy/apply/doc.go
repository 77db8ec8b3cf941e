// Package apply carries out plans: stage by stage, the engines of a stage beside each other, each step by step. A step without an answer is
// said again; one that fails ends the run when those beside it are done, and what is where is in the error.
//
// It keeps nothing: whoever is interrupted plans anew.
package apply
