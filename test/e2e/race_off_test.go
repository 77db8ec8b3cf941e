//go:build !race

package e2e

const memoryFactor = 1
