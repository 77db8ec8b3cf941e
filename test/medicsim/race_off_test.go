//go:build !race

package medicsim

const seedsByDefault = 2000
