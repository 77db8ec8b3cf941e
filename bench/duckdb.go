package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// runDuckDB runs DuckDB. Its time ends with the last answer, so it does not include freeing the memory.
func runDuckDB(ctx context.Context, c *Config, s *workload, data string) (e result, err error) {
	if e, err = c.runRival(ctx, duckDB, "-analysis", s.name(), "-data", data, "-json"); err != nil {
		return e, err
	}
	var parts struct{ Queries json.RawMessage }
	if err := json.Unmarshal(e.answer, &parts); err != nil {
		return e, fmt.Errorf("what the yardstick answers: %w", err)
	}
	e.answer, err = json.Marshal(parts)
	return e, err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
