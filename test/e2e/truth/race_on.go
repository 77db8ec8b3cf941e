//go:build race

package truth

const raced = true
