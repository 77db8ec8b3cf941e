//go:build race

package medics

const raced = true
