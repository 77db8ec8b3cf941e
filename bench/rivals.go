package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"posta.dev/posta/bench/brokers"
)

// The programs of bench/rivals.
const (
	duckProgram = "duckdb"
	natsProgram = "nats"
)

// rival is a program of bench/rivals. The first call builds it, unless a program was given.
func (c *Config) rival(ctx context.Context, name string) (program string, err error) {
	if known := c.rivals[name]; known != "" {
		return known, nil
	}
	if name == duckProgram && c.DuckDB != "" {
		if _, err := os.Stat(c.DuckDB); err != nil {
			return "", fmt.Errorf("there is no program %s", c.DuckDB)
		}
		return c.DuckDB, nil
	}
	if program, err = filepath.Abs(filepath.Join(c.Dir, name)); err != nil {
		return "", err
	}
	if err := brokers.Build(ctx, "", name, program); err != nil {
		return "", err
	}
	if c.rivals == nil {
		c.rivals = map[string]string{}
	}
	c.rivals[name] = program
	return program, nil
}

// rivalAbsent says why a program of bench/rivals cannot run, "" if it can.
func (c *Config) rivalAbsent(ctx context.Context, name string) string {
	if _, err := c.rival(ctx, name); err != nil {
		return err.Error()
	}
	return ""
}

// duckAbsent builds the yardstick, unless a program was given.
func duckAbsent(ctx context.Context, c *Config) string { return c.rivalAbsent(ctx, duckProgram) }

// version notes that of a contestant for the report.
func (c *Config) version(of, version string) {
	if c.versions == nil {
		c.versions = map[string]string{}
	}
	c.versions[of] = version
}
