package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	listenerFd = 3
	readyFd    = 4
)

// Runs as process 1 of the new namespaces.
func runInit(dir, apiAddress string) error {
	if err := mountOwnFolders(dir); err != nil {
		return err
	}
	if err := setUpNetwork(); err != nil {
		return err
	}
	listener, err := net.FileListener(os.NewFile(listenerFd, "listener"))
	if err != nil {
		return err
	}
	go forwardAll(listener, func(net.Conn) (net.Conn, error) { return net.DialTimeout("tcp", apiAddress, 2*time.Second) })

	// Whoever can open the work folder can dial any address inside: the first line names it.
	dialer, err := net.Listen("unix", filepath.Join(dir, "dial.sock"))
	if err != nil {
		return err
	}
	go forwardAll(dialer, dialNamed)

	children := make(chan os.Signal, 64)
	signal.Notify(children, syscall.SIGCHLD)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	ready := os.NewFile(readyFd, "ready")
	_, _ = ready.Write([]byte{1})
	_ = ready.Close()
	for {
		select {
		case <-end:
			return nil
		case <-children:
			reap()
		}
	}
}

// Folders with fixed paths that container tools write to are replaced by empty ones, so that two
// clusters on one machine do not meet there and the host keeps nothing of them.
func mountOwnFolders(dir string) error {
	own := []string{"/run", "/var/lib", "/var/log"}
	for _, path := range own {
		if strings.HasPrefix(dir, path+"/") {
			return fmt.Errorf("the work folder %s would be hidden by the cluster's own %s: set TMPDIR", dir, path)
		}
	}
	// Slave first: what is unmounted on the host must not be held here, and nothing goes back.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mount namespace: %w", err)
	}
	// The kubelet needs mounts below / to be shared with its containers.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return fmt.Errorf("shared mounts: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	for _, path := range own {
		if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// A bridge stands for the node's network card: not every kernel has dummy devices.
func setUpNetwork() error {
	commands := []string{
		"ip link set lo up",
		"ip link add node0 type bridge",
		"ip addr add 10.10.0.1/24 dev node0",
		"ip link set node0 up",
		"ip route add default dev node0",
	}
	for _, line := range commands {
		words := strings.Fields(line)
		if output, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", line, err, output)
		}
	}
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}

func forwardAll(listener net.Listener, dial func(net.Conn) (net.Conn, error)) {
	for {
		incoming, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			outgoing, err := dial(incoming)
			if err != nil {
				// Nobody listens there: the caller sees a closed connection.
				_ = incoming.Close()
				return
			}
			go pipe(outgoing, incoming)
			pipe(incoming, outgoing)
		}()
	}
}

// Ends one direction at a time, so that an answer still gets through after the question's end.
func pipe(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite()
		return
	}
	_ = to.Close()
	_ = from.Close()
}

func dialNamed(incoming net.Conn) (net.Conn, error) {
	// Byte by byte: what follows the line belongs to the one who is dialled.
	_ = incoming.SetReadDeadline(time.Now().Add(5 * time.Second))
	reader := bufio.NewReaderSize(oneByte{incoming}, 16)
	line, err := reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	_ = incoming.SetReadDeadline(time.Time{})
	return net.DialTimeout("tcp", strings.TrimSpace(line), 2*time.Second)
}

type oneByte struct{ from io.Reader }

func (o oneByte) Read(buffer []byte) (int, error) { return o.from.Read(buffer[:1]) }

func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			return
		}
	}
}
