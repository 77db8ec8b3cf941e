//go:build !race

package security

const memoryFactor = 1
