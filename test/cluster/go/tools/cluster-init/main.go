// The first process of a test cluster: it makes the namespaces and everything else runs inside them.
//
//	cluster-init run DIR API_ADDRESS   prints {"pid","port"} and leaves the init process behind
//	cluster-init certs DIR ADDRESS...  writes the API server's certificates and keys
//
// The init process has a network, a mount and a process namespace of its own. Killing it makes the
// kernel kill every process in them and drop every mount, so nothing outlives a test cluster, not
// even one whose test was killed in the middle.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

func main() {
	if err := dispatch(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster-init:", err)
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	switch {
	case len(args) == 3 && args[0] == "run":
		return startInit(args[1], args[2])
	case len(args) == 3 && args[0] == "init":
		return runInit(args[1], args[2])
	case len(args) >= 3 && args[0] == "certs":
		return writeCertificates(args[1], args[2:])
	}
	return fmt.Errorf("unknown arguments %q", args)
}

// Listens on the host's loopback before the namespaces exist: the socket stays in the host's network,
// the process that accepts on it dials inside the cluster's. That makes the forwarder to the API server.
func startInit(dir, apiAddress string) error {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "logs", "init.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	readyRead, readyWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, "init", dir, apiAddress)
	child.ExtraFiles = []*os.File{socket, readyWrite}
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Setsid:     true,
	}
	if err := child.Start(); err != nil {
		return fmt.Errorf("cannot make namespaces: %w", err)
	}
	_ = readyWrite.Close()
	if n, _ := readyRead.Read(make([]byte, 1)); n != 1 {
		_ = child.Process.Kill()
		why, _ := os.ReadFile(log.Name())
		return fmt.Errorf("the first process of the cluster did not come up: %s", why)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]int{
		"pid":  child.Process.Pid,
		"port": listener.Addr().(*net.TCPAddr).Port,
	})
}
