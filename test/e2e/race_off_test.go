//go:build !race

package e2e

const raced, memoryFactor = false, 1
