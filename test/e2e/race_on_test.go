//go:build race

package e2e

// The race detector's memory is five to ten times the program's: bounds in bytes are for programs as people run them.
const raced, memoryFactor = true, 8
