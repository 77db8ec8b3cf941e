package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"posta.dev/posta/internal/gen"
)

// fingerprintFacts is the number of facts in a sample: enough for a generator to show every kind of row that it makes
// (see package gen).
const fingerprintFacts = 20_000

// fingerprint identifies a workload's generator: it hashes a sample of the data after change. Rejected: a version number next
// to the generator, because people forget to raise it, and then old data is measured. Making the sample takes only a moment.
func (s *workload) fingerprint(change func(io.Writer, io.Reader) (int, error)) (string, error) {
	d := sampler{hash: sha256.New(), change: change}
	if err := s.generate(&d, fingerprintFacts, seed); err != nil {
		return "", fmt.Errorf("a sample of the data of %s: %w", s.name(), err)
	}
	return hex.EncodeToString(d.hash.Sum(nil)[:4]), nil
}

func unchanged(w io.Writer, r io.Reader) (int, error) {
	_, err := io.Copy(w, r)
	return 0, err
}

// sampler is a gen.Dir that hashes files and keeps nothing. Generators make one file after the other.
type sampler struct {
	hash   hash.Hash
	change func(io.Writer, io.Reader) (int, error)
}

var _ gen.Dir = (*sampler)(nil)

// Create implements gen.Dir.
func (d *sampler) Create(name string) (io.WriteCloser, error) {
	fmt.Fprintf(d.hash, "%q\n", name)
	r, w := io.Pipe()
	f := &sampled{w, make(chan error, 1)}
	go func() {
		_, err := d.change(d.hash, r)
		r.CloseWithError(err) // a later write reports the error
		f.done <- err
	}()
	return f, nil
}

type sampled struct {
	*io.PipeWriter
	done chan error
}

// Close waits until everything is hashed.
func (f *sampled) Close() error {
	_ = f.PipeWriter.Close() // never fails
	return <-f.done
}
