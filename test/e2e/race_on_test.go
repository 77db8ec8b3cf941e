//go:build race

package e2e

// The race detector takes five to ten times the program's memory. The bounds in bytes are for programs without it.
const raced, memoryFactor = true, 8
