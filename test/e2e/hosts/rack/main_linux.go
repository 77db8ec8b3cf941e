package rack

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Variables by which the program tells what it is when it is started again.
const (
	insideVar = "POSTA_RACK_INSIDE" // the test, in the operator's namespace, whose name this is
	initVar   = "POSTA_RACK_INIT"   // the first process of a host
)

// Main has to come first in TestMain. It removes what earlier tests have left, and takes this process into a network namespace of its own:
// from there on the test is the operator's machine, and dials hosts like anybody. The first process of a host never returns from here.
//
// The process itself goes, and no child of it, so that who kills it kills the test.
func Main() error {
	if spec := os.Getenv(initVar); spec != "" {
		return runInit(spec)
	}
	if os.Getenv(insideVar) != "" {
		return run("ip", "link", "set", "lo", "up")
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("hosts are made of namespaces, which needs root")
	}
	sweep()
	name := fmt.Sprintf("%s%d-operator", prefix, os.Getpid())
	if err := run("ip", "netns", "add", name); err != nil {
		return err
	}
	err := enter(name)
	return fmt.Errorf("go into namespace %s: %w", name, err)
}

// enter starts the program again inside; it returns only if that fails. A thread moves, and exec makes it the only one.
func enter(name string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := unix.Open(netnsFile(name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(exe, os.Args, append(os.Environ(), insideVar+"="+name))
}

// Leave has to come last in TestMain.
func Leave() error { return run("ip", "netns", "del", os.Getenv(insideVar)) }

func netnsFile(name string) string { return "/run/netns/" + name }

// run runs a command that says nothing when it works.
func run(args ...string) error {
	_, err := output(args...)
	return err
}

// output runs a command and returns what it prints.
func output(args ...string) (string, error) {
	out, err := exec.Command(args[0], args[1:]...).Output()
	text := strings.TrimSpace(string(out))
	if exit, ok := err.(*exec.ExitError); ok {
		return text, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return text, err
}
