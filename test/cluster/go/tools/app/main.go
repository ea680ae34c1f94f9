// The workload under test: a small HTTP server that behaves like applications in the field,
// which means that by default it dies at once on SIGTERM and fails whatever is in flight.
//
//	PORT                 where it listens (8080)
//	READY_AFTER          seconds after the start until /healthz answers 200 (0)
//	REFUSE_UNTIL_READY=1 until then / answers 503, so that a pod put back too early is counted
//	GRACEFUL=1           on SIGTERM requests in flight are finished, exit code 0
//	CRASH=1              exits with 1 at once
//
// POST /unready?for=5s makes /healthz answer 503 for so long, and nothing else.
//
// Any method on / answers 200 with the version and the pod's name, in the body and in the headers
// X-Version and X-Pod; ?hold=300ms or a header X-Hold holds the answer back. /crash and SIGUSR1
// make it exit with 1. `app sleep 3` is for preStop hooks: an image without a shell.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	startedAt := time.Now()
	if len(os.Args) == 3 && os.Args[1] == "sleep" {
		time.Sleep(seconds(os.Args[2]))
		return
	}
	if os.Getenv("CRASH") != "" || fileExists("/crash") {
		fmt.Fprintln(os.Stderr, "made to crash")
		os.Exit(1)
	}

	readyAfter := seconds(os.Getenv("READY_AFTER"))
	ready := func() bool { return time.Since(startedAt) >= readyAfter }
	var unreadyUntil atomic.Int64
	refuse := os.Getenv("REFUSE_UNTIL_READY") != ""
	version, pod := readVersion(), os.Getenv("POD")
	if pod == "" {
		pod, _ = os.Hostname()
	}

	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() || time.Now().UnixNano() < unreadyUntil.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("/unready", func(w http.ResponseWriter, r *http.Request) {
		duration, err := time.ParseDuration(r.URL.Query().Get("for"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		unreadyUntil.Store(time.Now().Add(duration).UnixNano())
	})
	mux.HandleFunc("/crash", func(http.ResponseWriter, *http.Request) { os.Exit(1) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Version", version)
		w.Header().Set("X-Pod", pod)
		if refuse && !ready() {
			http.Error(w, "not ready yet", http.StatusServiceUnavailable)
			return
		}
		if hold := holdOf(r); hold > 0 {
			time.Sleep(hold)
		}
		fmt.Fprintf(w, "%s %s\n", version, pod)
	})

	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	server := &http.Server{Addr: ":" + port, Handler: mux}

	drained := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	go func() {
		for s := range signals {
			if s == syscall.SIGUSR1 {
				os.Exit(1)
			}
			if os.Getenv("GRACEFUL") == "" {
				os.Exit(128 + int(s.(syscall.Signal)))
			}
			_ = server.Shutdown(context.Background())
			close(drained)
			return
		}
	}()

	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-drained
}

func readVersion() string {
	text, err := os.ReadFile("/version")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func holdOf(r *http.Request) time.Duration {
	text := r.URL.Query().Get("hold")
	if text == "" {
		text = r.Header.Get("X-Hold")
	}
	hold, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return hold
}

// A number of seconds, perhaps with a fraction; nothing else counts as more than 0.
func seconds(text string) time.Duration {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || value < 0 {
		return 0
	}
	return time.Duration(value * float64(time.Second))
}
