package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// bikesWith makes bikes data and changes files as edit says, by name; nil removes a file.
func bikesWith(t *testing.T, edit map[string]func(content []byte) []byte) string {
	t.Helper()
	dir := data(t, "300")
	for name, change := range edit {
		file := filepath.Join(dir, name)
		content, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if content = change(content); content == nil {
			err = os.Remove(file)
		} else {
			err = os.WriteFile(file, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func always(text string) func([]byte) []byte { return func([]byte) []byte { return []byte(text) } }

// TestC1_BadInputIsExitCode2: data that nobody can have meant is an error with exit code 2, which names file and cause. The run leaves
// nothing behind.
func TestC1_BadInputIsExitCode2(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct {
		what string
		file string
		edit func([]byte) []byte
		want string
	}{
		{"colons", "montreal/trips.csv", func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), ",", ":")) }, "no column"},
		{"half of UTF-16", "montreal/trips.csv", always("\xff\xfes\x00t"), "in the middle of a character"},
		{"0 bytes", "toronto/weather.csv", always(""), "is empty"},
		{"no such columns", "toronto/stations.csv", always("a,b\n1,2\n"), `the file has "a", "b"`},
		{"a broken gzip", "toronto/trips.csv.gz", func([]byte) []byte { return []byte("\x1f\x8b\x08\x00\x00") }, "cut short"},
		{"an open quote", "toronto/trips.csv", func(b []byte) []byte { return append(b[:200], "\n\""+strings.Repeat("x", 17<<20)...) },
			"never closed"},
		{"no Zstandard", "toronto/trips.csv.zst", always("x"), "does not begin as Zstandard does"},
		{"xz", "toronto/trips.csv.xz", always("x"), "packed with xz"},
	} {
		edit := map[string]func([]byte) []byte{c.file: c.edit}
		if name, packed, _ := strings.Cut(c.file, ".csv"); packed != "" {
			edit[name+".csv"] = func([]byte) []byte { return nil }
		}
		dir := bikesWith(t, edit)
		r := posta(t, "run", "bikes", "--data", dir, "-q")
		if r.code != exit.Usage || r.out != "" || !strings.Contains(r.err, c.want) || !strings.Contains(r.err, filepath.Join(dir, c.file)) {
			t.Errorf("%s: exit code %d, %s", c.what, r.code, r.err)
		}
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestC1_WarningsArePrintedOnceAndInJSON: data that may be intended causes one warning on standard error, and an entry in the JSON.
func TestC1_WarningsArePrintedOnceAndInJSON(t *testing.T) {
	gone := func([]byte) []byte { return nil }
	dir := bikesWith(t, map[string]func([]byte) []byte{"montreal/weather.csv": gone, "toronto/trips.csv": func(b []byte) []byte {
		return b[:strings.IndexByte(string(b), '\n')+1]
	}})
	r := must(t, "run", "bikes", "--data", dir, "--json", "-q")
	var answer struct {
		Warnings []struct{ Path, Text string }
	}
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ path, text string }{{"montreal", "there is no weather.csv"}, {"toronto/trips.csv", "no rows"}} {
		path := filepath.Join(dir, want.path)
		if strings.Count(r.err, "warning: "+path+": ") != 1 {
			t.Errorf("on standard error: %s", r.err)
		}
		if len(answer.Warnings) != 2 || answer.Warnings[i].Path != path || !strings.Contains(answer.Warnings[i].Text, want.text) {
			t.Errorf("in JSON: %+v", answer.Warnings)
		}
	}
}

// TestC1_CarriageReturnsAreRead: a file with the line ends of old Macs gives the same answers.
func TestC1_CarriageReturnsAreRead(t *testing.T) {
	cr := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "\n", "\r")) }
	dir := bikesWith(t, nil)
	want := expected(t, dir)
	same(t, parse(t, must(t, "run", "bikes", "--data", dir, "--json", "-q").out), want)
	for _, file := range []string{"montreal/trips.csv", "montreal/stations.csv", "toronto/weather.csv"} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), cr(b), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	same(t, parse(t, must(t, "run", "bikes", "--data", dir, "--json", "-q").out), want)
}

// TestC1_WhatWasFoundIsReported: a file with another separator, or in UTF-16, gives the same answers, and a message names what was
// detected.
func TestC1_WhatWasFoundIsReported(t *testing.T) {
	dir := bikesWith(t, nil)
	want := expected(t, dir)
	path := filepath.Join(dir, "toronto", "trips.csv")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), ",", "\t")), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := must(t, "run", "bikes", "--data", dir, "--json")
	same(t, parse(t, r.out), want)
	if !strings.Contains(r.err, "note: "+path+": columns are separated by tabs") {
		t.Errorf("on standard error: %s", r.err)
	}
	for flags, wrong := range map[string]string{"--delimiter comma": "no column", "--delimiter xx": "--delimiter",
		"--delimiter \"": "--delimiter"} {
		if r := posta(t, append([]string{"run", "bikes", "--data", dir}, strings.Fields(flags)...)...); r.code != exit.Usage ||
			!strings.Contains(r.err, wrong) {
			t.Errorf("%s: exit code %d, %s", flags, r.code, r.err)
		}
	}
}

// TestFilesAreNamed: files that are named one by one give the same answers as their directory.
func TestFilesAreNamed(t *testing.T) {
	dir := bikesWith(t, nil)
	want := expected(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "toronto", "trips.csv"))
	if err != nil {
		t.Fatal(err)
	}
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "run", "bikes", "--json", "-q", "--file", "weather="+dir+"/*/weather.csv", "--file",
		"stations="+dir+"/*/stations.csv",
		"--file", "trips="+dir+"/[^t]*/trips.csv", "--file", "toronto/trips.csv=-")
	var said await.Log
	cmd.Stdin, cmd.Stderr = pipe, &said
	written := make(chan error, 1)
	go func() {
		_, err := w.Write(text)
		written <- errors.Join(err, w.Close())
	}()
	out, err := cmd.Output()
	if err := errors.Join(pipe.Close(), <-written, err); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	same(t, parse(t, string(out)), want)

	for flags, want := range map[string]string{
		"--data " + dir + "/toronto/trips.csv": "name each with --file", "--data -": "name each with --file", "--file trips": "write NAME=PATH",
		"--file trips=" + dir + "/toronto/trips.csv": "no file is named for stream", "--file trips=nowhere --data " + dir: "nowhere",
		"": "where are the files",
		"--file trips=" + dir + "/toronto/trips.csv --data " + dir + " --rejects " + dir + "/toronto/trips.csv": "would be lost",
	} {
		if r := posta(t, append([]string{"run", "bikes"}, strings.Fields(flags)...)...); r.code != exit.Usage || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit code %d, %s", flags, r.code, r.err)
		}
	}
}

func TestRejectedRowsAreOnStandardErrorAndTheirNumberBelowTheAnswers(t *testing.T) {
	dir := bikesWith(t, map[string]func([]byte) []byte{"toronto/trips.csv": func(b []byte) []byte { return append(b, "rubbish\n"...) }})
	want := expected(t, dir)
	r := must(t, "run", "bikes", "--data", dir, "-q")
	if !strings.HasSuffix(r.out, " rejected\n") || strings.Contains(r.out, "reason") {
		t.Errorf("below the answers: %s", r.out)
	}
	if !strings.Contains(r.err, "reason") || !strings.Contains(r.err, "toronto/trips.csv") {
		t.Errorf("on standard error: %s, want %v", r.err, want.Rejected)
	}
}

// bikesWithPipe makes bikes data in which one file is a pipe without a writer.
func bikesWithPipe(t *testing.T) string {
	t.Helper()
	dir := bikesWith(t, map[string]func([]byte) []byte{"montreal/trips.csv": func([]byte) []byte { return nil }})
	if err := syscall.Mkfifo(filepath.Join(dir, "montreal", "trips.csv"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// held replaces a file by a pipe. The reader reaches its end only after the test has called release, which writes the content of the file.
// The file is larger than the 64 KiB that a pipe holds, so the pipe is not closed before it has a reader.
func held(t *testing.T, file string) (release func()) {
	t.Helper()
	feed := fed(t, file, 1)
	return func() { feed() }
}

// fed replaces a file by a pipe that gets the file's content in parts. Each call of feed begins to write the next part, and eaten is closed
// when the pipe has taken it. The reader reaches the end after the last part.
func fed(t *testing.T, file string, parts int) (feed func() (eaten <-chan struct{})) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err == nil {
		err = errors.Join(os.Remove(file), syscall.Mkfifo(file, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(file, os.O_RDWR, 0) // O_RDWR: the call does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	t.Cleanup(func() {
		_ = pipe.Close() // ends a Write that has no reader
		writing.Wait()
	})
	next := 0
	return func() <-chan struct{} {
		part, last, eaten := content[next*len(content)/parts:(next+1)*len(content)/parts], next == parts-1, make(chan struct{})
		next++
		writing.Add(1)
		go func() {
			defer writing.Done()
			defer close(eaten)
			if _, err := pipe.Write(part); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if last {
				_ = pipe.Close() // the answers show whether the reader got everything
			}
		}()
		return eaten
	}
}

func TestC1_TimeoutEndsTheWaitForAPipe(t *testing.T) {
	dir := bikesWithPipe(t)
	r := posta(t, "run", "bikes", "--data", dir, "--timeout", "4s")
	if r.code != exit.Failed || !strings.Contains(r.err, "--timeout 4s is over") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}

func TestC1_CtrlCEndsTheWaitForAPipe(t *testing.T) {
	dir := bikesWithPipe(t)
	ctx, interrupt := context.WithCancelCause(context.Background())
	time.AfterFunc(2*time.Second, func() { interrupt(exit.ErrInterrupted) })
	done := make(chan result, 1)
	go func() { done <- postaUntil(ctx, context.Background(), "run", "bikes", "--data", dir, "-q") }()
	select {
	case r := <-done:
		if r.code != exit.Interrupted {
			t.Errorf("exit code %d, %s", r.code, r.err)
		}
	case <-time.After(time.Minute):
		t.Fatal("a run outlives Ctrl-C")
	}
}

// TestC1_OneSignalEndsTheWaitForAPipe: one SIGINT ends a run that waits for a pipe, and its nodes.
func TestC1_OneSignalEndsTheWaitForAPipe(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "run", "bikes", "--dir", dir, "--data", bikesWithPipe(t))
	var said await.Log
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the pipe is waited for", func() bool { return strings.Contains(said.String(), "nobody writes to this pipe") })
	pid := pidOf(dir, "output-1")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the exit code shows the result
	}()
	select {
	case <-ended:
	case <-time.After(2 * time.Minute):
		_ = cmd.Process.Kill()
		<-ended
	}
	if code := cmd.ProcessState.ExitCode(); code != exit.Interrupted || !gone(pid) {
		t.Errorf("exit code %d, a node is gone: %v, %s", code, gone(pid), said.String())
	}
}

// TestATimeoutHoldsBeforeTheClusterIsReady: --timeout counts from the start of the command, not from the start of the upload.
func TestATimeoutHoldsBeforeTheClusterIsReady(t *testing.T) {
	r := posta(t, "run", "bikes", "--data", data(t, "10"), "--timeout", "1ns")
	if r.code != exit.Failed || !strings.Contains(r.err, "--timeout 1ns is over") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
}

// TestC1_PlacesThatCannotBeUsedAreExitCode2: an output place that cannot be used counts as wrong use.
func TestC1_PlacesThatCannotBeUsedAreExitCode2(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := data(t, "10")
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(t.TempDir(), "t.toml")
	writeTopology(t, good)
	for _, call := range []string{
		"run bikes --data D -f PIPE", "run bikes --data D -f D", "run bikes --data PIPE", "run bikes --data D --out PIPE",
		"run bikes --data D --dir PIPE",
		"submit bikes --data D -f PIPE", "topology check PIPE", "topology check D", "topology check /dev/zero", "topology graph GOOD --out D",
		"topology graph GOOD --out PIPE",
		"topology compose GOOD --out D", "status -f PIPE", "sessions -f PIPE", "results -f D 6ba7b810-9dad-41d1-80b4-00c04fd430c8", "up -f PIPE",
		"down -f D",
		"node joiner-1 -f PIPE", "medic medic-1 -f D", "chaos -f PIPE", "deploy -f PIPE", "deploy --render compose -f GOOD PIPE",
		"deploy -f GOOD --program PIPE",
		"gen bikes --out PIPE", "log verify PIPE", "log dump PIPE", "log repair PIPE",
	} {
		args := strings.Fields(strings.NewReplacer("PIPE", pipe, "GOOD", good, " D", " "+dir).Replace(call))
		if r := posta(t, args...); r.code != exit.Usage || r.out != "" {
			t.Errorf("posta %s: exit code %d, %s", call, r.code, r.err)
		}
	}
}

// TestASecondCtrlCEndsACommandThatHangs: the second Ctrl-C ends a command that does not end at the first.
func TestASecondCtrlCEndsACommandThatHangs(t *testing.T) {
	forced, interrupt := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, interrupt)
	hang := make(chan struct{})
	defer close(hang)
	var said await.Log
	code := runUntil(forced, Console{Err: &said}, func() int { <-hang; return exit.OK })
	if code != exit.Interrupted || said.String() != "posta: interrupted\n" {
		t.Errorf("exit code %d, %q", code, said.String())
	}
	if code := runUntil(forced, Console{}, func() int { return exit.Failed }); code != exit.Failed {
		t.Errorf("a command that came back: exit code %d", code)
	}
}

// TestC1_CtrlCEndsSampling: the first look at a file ends with Ctrl-C, wherever its bytes come from and however they come.
func TestC1_CtrlCEndsSampling(t *testing.T) {
	reached := make(chan struct{}, 1)
	at := func() {
		select {
		case reached <- struct{}{}:
		default:
		}
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body.csv" {
			w.Header().Set("Content-Length", "1000000000")
			_, _ = io.WriteString(w, "a,b\n1,2\n")
			_ = http.NewResponseController(w).Flush()
		}
		at()
		<-r.Context().Done()
	}))
	defer web.Close()
	for from, write := range map[string]func(w io.Writer){
		web.URL + "/answer.csv": nil,
		web.URL + "/body.csv":   nil,
		"-": func(w io.Writer) { // blank lines above a header that never comes
			lines := bytes.Repeat([]byte("\n"), 1<<16)
			for n := 0; ; n++ {
				if _, err := w.Write(lines); err != nil {
					return
				}
				if n == 16 {
					at()
				}
			}
		},
	} {
		in, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var feeds sync.WaitGroup
		if write != nil {
			feeds.Go(func() { write(w) })
		}
		ctx, interrupt := context.WithCancelCause(context.Background())
		done := make(chan result, 1)
		go func() {
			var out, said await.Log
			code := runWithin(ctx, context.Background(), program(), []string{"posta", "sql", "-q", "--file", "t=" + from, "SELECT * FROM t"},
				Console{In: in, Out: &out, Err: &said})
			done <- result{code: code, out: out.String(), err: said.String()}
		}()
		select {
		case <-reached:
			interrupt(exit.ErrInterrupted)
		case r := <-done:
			t.Fatalf("%s: it ends before, with exit code %d, %s", from, r.code, r.err)
		}
		select {
		case r := <-done:
			if r.code != exit.Interrupted {
				t.Errorf("%s: exit code %d, %s", from, r.code, r.err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: sampling outlives Ctrl-C", from)
		}
		interrupt(nil)
		_, _ = in.Close(), w.Close()
		feeds.Wait()
	}
}
