package brokers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFind_WhatIsNotThereIsToBeInstalled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	nowhere := filepath.Join(dir, "nowhere")
	if err := find(nowhere); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install rabbitmq-server") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rabbitmq-server"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := find(nowhere); err != nil {
		t.Errorf("in the PATH: %v", err)
	}
	if err := find(filepath.Join(dir, "rabbitmq-server")); err != nil {
		t.Errorf("at its place: %v", err)
	}
}
