//go:build race

package medicsim

// seedsByDefault are fewer under the race detector, which has nothing to find here but makes everything ten times slower.
const seedsByDefault = 200
