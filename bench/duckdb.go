package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// runDuckDB runs the yardstick. Its time is until the last answer: that it has to give its memory back is not counted.
func runDuckDB(ctx context.Context, c *Config, s *workload, data string) (e result, err error) {
	costs, err := os.CreateTemp(c.Dir, "costs")
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, os.Remove(costs.Name())) }()
	if err := costs.Close(); err != nil {
		return e, err
	}
	program, err := c.rival(ctx, duckDB)
	if err != nil {
		return e, err
	}
	cmd := exec.CommandContext(ctx, program, "-analysis", s.name(), "-data", data, "-json", "-costs", costs.Name())
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
	e = result{wall: seconds(cost.Wall), cpu: seconds(cost.CPU), peak: cost.Peak, sum: cost.Peak}
	var parts struct{ Queries json.RawMessage }
	if err := json.Unmarshal(out.Bytes(), &parts); err != nil {
		return e, fmt.Errorf("what the yardstick answers: %w", err)
	}
	e.answer, err = json.Marshal(parts)
	return e, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
