package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"posta.dev/posta/client/source/parquet/generated"
	"posta.dev/posta/internal/gen"
)

// dataset is generated data to ask SQL about.
type dataset struct {
	name, format string
	rows         int
	generate     func(gen.Dir, int, uint64) error
}

// made returns the directory of the data, which the command `posta gen` makes if no earlier run has made it. It is not made in this
// process, because the kernel counts the most memory that this process has had as that of the processes that it starts later.
func (d *dataset) made(ctx context.Context, c *Config) (dir string, size int64, err error) {
	version, err := (&workload{generate: d.sample}).fingerprint(unchanged)
	if err != nil {
		return "", 0, err
	}
	path := filepath.Join(c.Dir, fmt.Sprintf("%s-%s-%d-%s", d.name, d.format, d.rows, version))
	return madeOnce(path, func(draft string) error {
		out, err := exec.CommandContext(ctx, c.Self[0], "gen", d.name, "--rows", fmt.Sprint(d.rows), "--seed", fmt.Sprint(seed),
			"--format", d.format, "--out", draft).CombinedOutput()
		if err != nil {
			return fmt.Errorf("posta gen: %w: %s", err, out)
		}
		return nil
	})
}

// sample makes a small part of the data in its format.
func (d *dataset) sample(dir gen.Dir, rows int, seed uint64) error {
	rows /= 10 // columns are many
	dir, err := generated.In(d.format, dir, d.name)
	if err != nil {
		return err
	}
	return d.generate(dir, rows, seed)
}
