// Package ward is what tests of medics have in common, whatever the nodes run in:
//
//	Ear    hears what nodes and medics of a cluster say, without taking part
//	Load   analyses, several at a time, each answer checked
//	Ward   an ear with judgement: Strike does something to some and demands that all of them, and nobody else, come back after one restart
//	Table  times from a kill to new work, step by step
//	Recipe what containers are made from
//	Replace changes a file that others read meanwhile
//
// How a process is killed or stopped is for the tests to say.
package ward
