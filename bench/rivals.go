package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"posta.dev/posta/bench/brokers"
)

// need is a program that a contestant needs and Posta does not contain; "" for none.
type need string

const (
	rabbitMQ   need = "rabbitmq" // must be installed
	natsServer need = "nats"     // built from bench/rivals
	duckDB     need = "duckdb"   // built from bench/rivals
	duckDBSQL  need = "duckdbsql"
	oracle     need = "oracle" // built from test/oracle
)

// prepare finds or builds a program, once. The error says why contestants that need it cannot take part.
func (c *Config) prepare(ctx context.Context, n need) error {
	if n == "" {
		return nil
	}
	err, known := c.prepared[n]
	if known {
		return err
	}
	if n == rabbitMQ {
		err = brokers.FindRabbitMQ()
	} else {
		_, err = c.rival(ctx, n)
	}
	if c.prepared == nil {
		c.prepared = map[need]error{}
	}
	c.prepared[n] = err
	return err
}

// rival returns the path of a program of bench/rivals. The first call builds it, unless a program was given.
func (c *Config) rival(ctx context.Context, n need) (program string, err error) {
	if built := c.rivals[n]; built != "" {
		return built, nil
	}
	if n == duckDB && c.DuckDB != "" {
		if _, err := os.Stat(c.DuckDB); err != nil {
			return "", fmt.Errorf("there is no program %s", c.DuckDB)
		}
		return c.DuckDB, nil
	}
	if program, err = filepath.Abs(filepath.Join(c.Dir, string(n))); err != nil {
		return "", err
	}
	if n == oracle {
		err = buildOracle(ctx, program)
	} else {
		err = brokers.Build(ctx, "", string(n), program)
	}
	if err != nil {
		return "", err
	}
	if c.rivals == nil {
		c.rivals = map[need]string{}
	}
	c.rivals[n] = program
	return program, nil
}

// buildOracle compiles the program that calls Oracle.
func buildOracle(ctx context.Context, target string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", target, "posta.dev/posta/test/oracle/contestant")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("it cannot be built (run this in the folder that holds Posta, with Go): %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// runOracle runs the reference over the files in data.
func (c *Config) runOracle(ctx context.Context, s *workload, data string) (childReport, error) {
	program, err := c.rival(ctx, oracle)
	if err != nil {
		return childReport{}, fmt.Errorf("the oracle: %w", err)
	}
	its := *c
	its.Self = []string{program}
	return its.run(ctx, reference+"-"+s.name(), "oracle", s.name(), data)
}

// version records a contestant's version for the report.
func (c *Config) version(of, version string) {
	if c.versions == nil {
		c.versions = map[string]string{}
	}
	c.versions[of] = version
}
