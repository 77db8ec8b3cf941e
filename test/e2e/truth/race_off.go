//go:build !race

package truth

const raced = false
