//go:build brokers

package brokers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain is also a program that starts a RabbitMQ and is then killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("POSTA_TEST_RABBITMQ_IN"); dir != "" {
		r, err := StartRabbitMQ(context.Background(), dir)
		fmt.Println(r.PIDs(), err)
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// A server ends with the program that started it, even if that program is killed.
func TestRabbitMQEndsWithAProgramThatIsKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rabbit")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "POSTA_TEST_RABBITMQ_IN="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 200)
	n, _ := out.Read(line)
	if !bytes.Contains(line[:n], []byte("<nil>")) {
		t.Fatalf("it says %q", line[:n])
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	var left []string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		left = nil
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(dir)) {
				left = append(left, f)
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("still there: %v", left)
}
