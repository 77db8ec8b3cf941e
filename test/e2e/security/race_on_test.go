//go:build race

package security

// The race detector's memory is five to ten times the program's: bounds in bytes are for programs as people run them.
const memoryFactor = 8
