// Exec and port-forward of the process kubelet: the streaming protocols that kubelets speak, by the kubelet's own library.
//
// It listens on a Unix socket. The node's endpoint, which the API server dials, passes requests on with three headers: the
// process to go into, the file with the container's environment, and the pod's network. It ends when its standard input does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	tools "k8s.io/client-go/tools/remotecommand"
	"k8s.io/kubelet/pkg/cri/streaming/portforward"
	streaming "k8s.io/kubelet/pkg/cri/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idle     = 4 * time.Hour
	creation = 30 * time.Second
)

func main() {
	path := flag.String("socket", "", "Unix socket to listen on")
	flag.Parse()
	listener, err := net.Listen("unix", *path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	http.HandleFunc("/exec/", serveExec)
	http.HandleFunc("/portForward/", servePorts)
	fmt.Println("ready")
	fmt.Fprintln(os.Stderr, http.Serve(listener, nil))
	os.Exit(1)
}

func serveExec(w http.ResponseWriter, request *http.Request) {
	options, err := streaming.NewOptions(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	environment, err := readEnvironment(request.Header.Get("X-Environment"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	inside := container{request.Header.Get("X-Process"), environment}
	command := request.URL.Query()["command"]
	streaming.ServeExec(w, request, inside, "", "", "", command, options, idle, creation, remotecommand.SupportedStreamingProtocols)
}

func servePorts(w http.ResponseWriter, request *http.Request) {
	options, err := portforward.NewV4Options(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	inside := network{request.Header.Get("X-Network")}
	portforward.ServePortForward(w, request, inside, "", "", options, idle, creation, portforward.SupportedProtocols)
}

func readEnvironment(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var noted struct {
		Environment map[string]string `json:"environment"`
	}
	if err := json.Unmarshal(text, &noted); err != nil {
		return nil, err
	}
	found := []string{}
	for name, value := range noted.Environment {
		found = append(found, name+"="+value)
	}
	return found, nil
}

// container runs commands in the namespaces and with the root of a process.
type container struct {
	process     string
	environment []string
}

func (c container) ExecInContainer(ctx context.Context, _ string, _ types.UID, _ string, command []string, in io.Reader,
	out, problems io.WriteCloser, tty bool, sizes <-chan tools.TerminalSize, _ time.Duration) error {
	arguments := []string{"--target", c.process, "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd", "--"}
	tool, err := exec.LookPath("nsenter")
	if err != nil {
		return err
	}
	running := exec.CommandContext(ctx, tool, append(arguments, command...)...)
	running.Env = c.environment
	running.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if tty {
		err = runOnTerminal(running, in, out, sizes)
	} else {
		err = runOnPipes(running, in, out, problems)
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return utilexec.CodeExitError{Err: err, Code: code(ended)}
	}
	return err
}

func code(ended *exec.ExitError) int {
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return ended.ExitCode()
}

func runOnPipes(running *exec.Cmd, in io.Reader, out, problems io.WriteCloser) error {
	running.Stdout, running.Stderr = writer(out), writer(problems)
	if in != nil {
		// Not running.Stdin: its reader would keep Wait from returning while the user's side is open.
		pipe, err := running.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			io.Copy(pipe, in)
			pipe.Close()
		}()
	}
	if err := running.Start(); err != nil {
		return err
	}
	return running.Wait()
}

// writer keeps an interface without a value from looking like one that has one.
func writer(stream io.WriteCloser) io.Writer {
	if stream == nil {
		return nil
	}
	return stream
}

func runOnTerminal(running *exec.Cmd, in io.Reader, out io.Writer, sizes <-chan tools.TerminalSize) error {
	own, theirs, err := terminal()
	if err != nil {
		return err
	}
	defer own.Close()
	running.Stdin, running.Stdout, running.Stderr = theirs, theirs, theirs
	running.SysProcAttr.Setctty = true
	err = running.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	go func() {
		for size := range sizes {
			unix.IoctlSetWinsize(int(own.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
		}
	}()
	if in != nil {
		go io.Copy(own, in)
	}
	io.Copy(out, own)
	return running.Wait()
}

// terminal is a new pseudo terminal: our side and the program's.
func terminal() (*os.File, *os.File, error) {
	own, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(own.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(own.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		own.Close()
		return nil, nil, err
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		own.Close()
		return nil, nil, err
	}
	return own, theirs, nil
}

// network reaches ports of a pod from inside its network namespace.
type network struct{ path string }

func (n network) PortForward(_ context.Context, _ string, _ types.UID, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	there, err := n.dial(port)
	if err != nil {
		return err
	}
	defer there.Close()
	done := make(chan error, 2)
	go func() { _, err := io.Copy(there, stream); done <- err }()
	go func() { _, err := io.Copy(stream, there); done <- err }()
	return <-done
}

func (n network) dial(port int32) (net.Conn, error) {
	// The thread is not given back: it stays in the pod's network and ends with this goroutine.
	made := make(chan func() (net.Conn, error), 1)
	go func() {
		runtime.LockOSThread()
		file, err := os.Open(n.path)
		if err == nil {
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
			file.Close()
		}
		if err != nil {
			made <- func() (net.Conn, error) { return nil, err }
			return
		}
		connection, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		made <- func() (net.Conn, error) { return connection, err }
	}()
	return (<-made)()
}
