package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// duckSource is where the yardstick's module is, seen from the folder that holds Posta.
var duckSource = filepath.Join("bench", "duckdb")

// duckAbsent builds the yardstick, unless a program was given. It needs Go and a C++ compiler, and Posta's source.
func duckAbsent(ctx context.Context, c *Config) string {
	if c.DuckDB != "" {
		if _, err := os.Stat(c.DuckDB); err != nil {
			return fmt.Sprintf("there is no program %s", c.DuckDB)
		}
		return ""
	}
	if _, err := os.Stat(filepath.Join(duckSource, "go.mod")); err != nil {
		return "its source is not here; run the bench in the folder that holds Posta, or build bench/duckdb and give the program"
	}
	program, err := filepath.Abs(filepath.Join(c.Dir, "duckdb"))
	if err != nil {
		return err.Error()
	}
	// The module's requirements follow Posta's, which may have moved on: a copy is brought up to date, the source stays as it is.
	mod := program + ".mod"
	for from, to := range map[string]string{"go.mod": mod, "go.sum": program + ".sum"} {
		b, err := os.ReadFile(filepath.Join(duckSource, from))
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if err != nil {
			return err.Error()
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-modfile="+mod, "-o", program, ".")
	build.Dir = duckSource
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Sprintf("it cannot be built (Go and g++ are needed): %v: %s", err, bytes.TrimSpace(out))
	}
	c.DuckDB = program
	return ""
}

// duckAlone runs the yardstick. Its time is until the last answer: that it has to give its memory back is not counted.
func duckAlone(ctx context.Context, c *Config, s *subject, data string) (e entry, err error) {
	costs, err := os.CreateTemp(c.Dir, "costs")
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, os.Remove(costs.Name())) }()
	if err := costs.Close(); err != nil {
		return e, err
	}
	cmd := exec.CommandContext(ctx, c.DuckDB, "-analysis", s.name(), "-data", data, "-json", "-costs", costs.Name())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return e, fmt.Errorf("%w: %s", err, errs.Bytes())
	}
	b, err := os.ReadFile(costs.Name())
	if err != nil {
		return e, err
	}
	var cost struct {
		Version   string
		Wall, CPU float64
		Peak      int64
	}
	if err := json.Unmarshal(b, &cost); err != nil {
		return e, fmt.Errorf("what the yardstick says of its costs: %w", err)
	}
	c.version("DuckDB", cost.Version)
	e = entry{wall: seconds(cost.Wall), cpu: seconds(cost.CPU), peak: cost.Peak, sum: cost.Peak}
	var parts struct{ Queries json.RawMessage }
	if err := json.Unmarshal(out.Bytes(), &parts); err != nil {
		return e, fmt.Errorf("what the yardstick answers: %w", err)
	}
	e.answer, err = json.Marshal(parts)
	return e, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// version notes that of a contestant for the report.
func (c *Config) version(of, version string) {
	if c.versions == nil {
		c.versions = map[string]string{}
	}
	c.versions[of] = version
}
