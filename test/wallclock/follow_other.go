//go:build !linux || !amd64

package wallclock

// Follow returns ErrUnsupported.
func Follow(string) error { return ErrUnsupported }
