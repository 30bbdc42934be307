// Package machine says what the machine is that the program runs on: cores, instruction sets, memory and how fast it is, GPUs.
//
// What a container may use counts, not what the machine around it has.
package machine

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// CPU is the processor.
type CPU struct {
	Name     string   `json:"name"`     // "": not known
	Cores    int      `json:"cores"`    // that this process may use
	Quota    float64  `json:"quota"`    // cores' worth of time that a container is limited to; 0: no limit
	Features []string `json:"features"` // those that the engine has kernels for, or parts of them
}

// Memory is the main memory, in bytes.
type Memory struct {
	Total     int64 `json:"total"`
	Available int64 `json:"available"` // without pushing anything out
	Limit     int64 `json:"limit"`     // of the container; 0: none
}

// GPU is what there is of NVIDIA's.
type GPU struct {
	Driver string   `json:"driver"` // version; "": none is loaded
	Names  []string `json:"names"`
}

// used are the features that kernels are made of; see native/CMakeLists.txt.
var used = []string{"avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni"}

// root is where /proc and /sys are.
var root = "/"

func read(path string) string {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return ""
	}
	return string(text)
}

// FindCPU looks at the processor.
func FindCPU() CPU {
	c := CPU{Cores: runtime.NumCPU(), Features: []string{}}
	has := map[string]bool{}
	for line := range strings.Lines(read("proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name":
			c.Name = strings.TrimSpace(value)
		case "flags":
			for f := range strings.FieldsSeq(value) {
				has[f] = true
			}
		}
	}
	for _, f := range used {
		if has[f] {
			c.Features = append(c.Features, f)
		}
	}
	if quota, period, ok := strings.Cut(strings.TrimSpace(read(cgroup("cpu.max"))), " "); ok {
		q, err1 := strconv.ParseFloat(quota, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && p > 0 {
			c.Quota = q / p
		}
	}
	return c
}

// cgroup is the path of a file of this process's control group (version 2).
func cgroup(file string) string {
	for line := range strings.Lines(read("proc/self/cgroup")) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			if at := filepath.Join("sys/fs/cgroup", path, file); read(at) != "" {
				return at
			}
		}
	}
	return filepath.Join("sys/fs/cgroup", file) // as a container sees its own
}

// FindMemory looks at the memory.
func FindMemory() Memory {
	var m Memory
	for line := range strings.Lines(read("proc/meminfo")) {
		key, value, _ := strings.Cut(line, ":")
		kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch key {
		case "MemTotal":
			m.Total = kilobytes << 10
		case "MemAvailable":
			m.Available = kilobytes << 10
		}
	}
	if limit := number(cgroup("memory.max")); limit > 0 {
		m.Limit = limit
		m.Available = min(m.Available, max(0, limit-number(cgroup("memory.current"))+fileCache()))
	}
	return m
}

func number(path string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSpace(read(path)), 10, 64)
	return n
}

// fileCache is the part of a container's memory that is given up when it is needed.
func fileCache() int64 {
	for line := range strings.Lines(read(cgroup("memory.stat"))) {
		if value, ok := strings.CutPrefix(line, "inactive_file "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}

// FindGPU looks for a driver of NVIDIA and what it drives. It loads nothing.
func FindGPU() GPU {
	g := GPU{Names: []string{}}
	_, rest, ok := strings.Cut(read("proc/driver/nvidia/version"), "Kernel Module")
	if !ok {
		return g
	}
	for word := range strings.FieldsSeq(rest) { // "Kernel Module for x86_64  550.54.15  Release Build"
		if word[0] >= '0' && word[0] <= '9' {
			g.Driver = word
			break
		}
	}
	cards, _ := filepath.Glob(filepath.Join(root, "proc/driver/nvidia/gpus/*/information"))
	for _, path := range cards {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "Model:"); ok {
				g.Names = append(g.Names, strings.TrimSpace(name))
			}
		}
	}
	return g
}

// Resident is how much memory this process takes now; 0: not known.
func Resident() int64 {
	fields := strings.Fields(read("proc/self/statm"))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
