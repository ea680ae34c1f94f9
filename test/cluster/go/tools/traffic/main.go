// An open-loop load generator: requests leave by the clock, whatever the answers do, so that a slow
// or failing server cannot lower the rate at which its failures are counted. Nothing is repeated.
//
// Prints one JSON line for each second and one with the totals at the end. Ends on SIGTERM, SIGINT
// or when its standard input closes (its starter died), after it has waited for what is in flight.
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
	"net/http/httptrace"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A failed request, as the client saw it.
type failure struct {
	At      int64  `json:"at"` // when it was sent, in ms since the epoch
	Kind    string `json:"kind"`
	Pod     string `json:"pod,omitempty"`
	Fresh   bool   `json:"fresh"` // on a connection of its own
	Elapsed int64  `json:"elapsedMs"`
	Detail  string `json:"detail,omitempty"`
}

type counts struct {
	Requests  int            `json:"requests"`
	Failed    int            `json:"failed"`
	ByKind    map[string]int `json:"byKind"`
	ByPod     map[string]int `json:"byPod"`
	ByVersion map[string]int `json:"byVersion"`
}

func newCounts() *counts {
	return &counts{ByKind: map[string]int{}, ByPod: map[string]int{}, ByVersion: map[string]int{}}
}

type second struct {
	Type   string `json:"type"`
	Second int64  `json:"second"` // since the epoch: the second in which the requests were sent
	*counts
}

type totals struct {
	Type string `json:"type"`
	*counts
	StartedAt int64     `json:"startedAt"`
	EndedAt   int64     `json:"endedAt"`
	BySecond  []*second `json:"bySecond"`
	Failures  []failure `json:"failures"` // the first thousand
	// How late the generator itself was: a property of this machine, never a failure of the server.
	Late      int   `json:"late"` // requests that left more than 20 ms after their time
	MaxLateMs int64 `json:"maxLateMs"`
	P50Ms     int64 `json:"p50Ms"`
	P99Ms     int64 `json:"p99Ms"`
	MaxMs     int64 `json:"maxMs"`
}

const (
	lateAfter    = 20 * time.Millisecond
	keptFailures = 1000
)

type generator struct {
	url        string
	held       string
	reused     *http.Client
	fresh      *http.Client
	mutex      sync.Mutex
	all        *counts
	seconds    map[int64]*second
	order      []int64
	failures   []failure
	histogram  [4096]int // one bucket a millisecond, the last for everything above
	maxElapsed int64
}

func main() {
	url := flag.String("url", "", "where to send")
	rate := flag.Float64("rate", 200, "requests per second")
	heldShare := flag.Float64("held", 0.1, "share of requests that ask the server to hold the answer")
	hold := flag.Duration("hold", 300*time.Millisecond, "for how long")
	freshShare := flag.Float64("fresh", 0.5, "share of requests on a connection of their own")
	timeout := flag.Duration("timeout", 5*time.Second, "a request that takes longer has failed")
	idle := flag.Duration("idle", 2*time.Second, "the client drops a connection idle for this long; keep it well below the server's")
	flag.Parse()

	g := newGenerator(*url, *hold, *timeout, *idle)
	stop := make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		<-signals
		close(stop)
	}()
	starterGone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(starterGone)
	}()

	startedAt := time.Now()
	var inFlight sync.WaitGroup
	var late int
	var maxLate time.Duration
	out := json.NewEncoder(os.Stdout)
	reported := startedAt.Unix()
	ended := false
	for n := 0; !ended; n++ {
		due := startedAt.Add(time.Duration(float64(n) / *rate * float64(time.Second)))
		if wait := time.Until(due); wait > 0 {
			select {
			case <-time.After(wait):
			case <-stop:
				ended = true
			case <-starterGone:
				ended = true
			}
		} else {
			// Behind its schedule: it must still notice that it is to end.
			select {
			case <-stop:
				ended = true
			case <-starterGone:
				ended = true
			default:
			}
		}
		if ended {
			break
		}
		if behind := time.Since(due); behind > lateAfter {
			late++
			maxLate = max(maxLate, behind)
		}
		inFlight.Add(1)
		go func() {
			defer inFlight.Done()
			g.send(picked(n, *freshShare), picked(n/2, *heldShare))
		}()
		// Two seconds behind, so that most answers of the reported second are in.
		for now := time.Now().Unix(); reported+2 < now; reported++ {
			if s := g.snapshot(reported); s != nil {
				_ = out.Encode(s)
			}
		}
	}
	inFlight.Wait()

	t := totals{
		Type: "total", counts: g.all, StartedAt: startedAt.UnixMilli(), EndedAt: time.Now().UnixMilli(),
		BySecond: []*second{}, Failures: g.failures, Late: late, MaxLateMs: maxLate.Milliseconds(),
		P50Ms: g.percentile(0.50), P99Ms: g.percentile(0.99), MaxMs: g.maxElapsed,
	}
	for _, s := range g.order {
		t.BySecond = append(t.BySecond, g.seconds[s])
	}
	if err := out.Encode(t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newGenerator(url string, hold, timeout, idle time.Duration) *generator {
	client := func(keepAlive bool) *http.Client {
		return &http.Client{Timeout: timeout, Transport: &http.Transport{
			DisableKeepAlives:   !keepAlive,
			MaxIdleConns:        0,
			MaxIdleConnsPerHost: 512,
			IdleConnTimeout:     idle,
		}}
	}
	held := url + "?hold=" + hold.String()
	if strings.Contains(url, "?") {
		held = url + "&hold=" + hold.String()
	}
	return &generator{
		url: url, held: held, reused: client(true), fresh: client(false),
		all: newCounts(), seconds: map[int64]*second{}, failures: []failure{},
	}
}

// Spreads a share evenly over the running number, without chance.
func picked(n int, share float64) bool {
	return int(float64(n+1)*share) > int(float64(n)*share)
}

func (g *generator) send(fresh, held bool) {
	client, url := g.reused, g.url
	if fresh {
		client = g.fresh
	}
	if held {
		url = g.held
	}
	sentAt := time.Now()
	reusedConnection := false
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reusedConnection = c.Reused }}
	// POST with a body: neither Go's client nor HAProxy may send it a second time.
	request, err := http.NewRequestWithContext(
		httptrace.WithClientTrace(context.Background(), trace), http.MethodPost, url, strings.NewReader(`{"order":1}`))
	if err != nil {
		g.record(sentAt, failure{Kind: "request", Detail: err.Error()}, "", "")
		return
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		g.record(sentAt, failure{Kind: kindOf(err), Detail: err.Error(), Fresh: !reusedConnection}, "", "")
		return
	}
	pod, version := response.Header.Get("X-Pod"), response.Header.Get("X-Version")
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	switch {
	case err != nil:
		g.record(sentAt, failure{Kind: "body " + kindOf(err), Detail: err.Error(), Fresh: !reusedConnection}, pod, version)
	case response.StatusCode != http.StatusOK:
		g.record(sentAt, failure{Kind: fmt.Sprint(response.StatusCode), Fresh: !reusedConnection}, pod, version)
	default:
		g.record(sentAt, failure{}, pod, version)
	}
}

// Kinds as the other side would be described: by the error number where there is one.
func kindOf(err error) string {
	var netErr net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "ECONNREFUSED"
	case errors.Is(err, syscall.ECONNRESET):
		return "ECONNRESET"
	case errors.Is(err, syscall.EPIPE):
		return "EPIPE"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	case errors.As(err, &netErr) && netErr.Timeout():
		return "timeout"
	case strings.Contains(err.Error(), "server closed idle connection"):
		return "idle connection closed"
	}
	return "other"
}

func (g *generator) record(sentAt time.Time, f failure, pod, version string) {
	elapsed := time.Since(sentAt).Milliseconds()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	key := sentAt.Unix()
	s := g.seconds[key]
	if s == nil {
		s = &second{Type: "second", Second: key, counts: newCounts()}
		g.seconds[key] = s
		g.order = append(g.order, key)
	}
	for _, c := range []*counts{g.all, s.counts} {
		c.Requests++
		if f.Kind != "" {
			c.Failed++
			c.ByKind[f.Kind]++
			continue
		}
		c.ByPod[pod]++
		c.ByVersion[version]++
	}
	if f.Kind == "" {
		g.histogram[min(elapsed, int64(len(g.histogram)-1))]++
		g.maxElapsed = max(g.maxElapsed, elapsed)
		return
	}
	if len(g.failures) < keptFailures {
		f.At, f.Elapsed, f.Pod = sentAt.UnixMilli(), elapsed, pod
		g.failures = append(g.failures, f)
	}
}

// A copy that can be encoded while requests go on.
func (g *generator) snapshot(key int64) *second {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	s := g.seconds[key]
	if s == nil {
		return nil
	}
	c := newCounts()
	c.Requests, c.Failed = s.Requests, s.Failed
	for from, to := range map[*map[string]int]map[string]int{&s.ByKind: c.ByKind, &s.ByPod: c.ByPod, &s.ByVersion: c.ByVersion} {
		for k, v := range *from {
			to[k] = v
		}
	}
	return &second{Type: "second", Second: key, counts: c}
}

func (g *generator) percentile(share float64) int64 {
	total := 0
	for _, n := range g.histogram {
		total += n
	}
	seen := 0
	for ms, n := range g.histogram {
		seen += n
		if total > 0 && float64(seen) >= share*float64(total) {
			return int64(ms)
		}
	}
	return 0
}
