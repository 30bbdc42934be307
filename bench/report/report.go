// Package report says under what circumstances a figure was measured.
package report

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// Circumstances go beside every measured figure.
type Circumstances struct {
	Date    string `json:"date"`
	Commit  string `json:"commit"` // "+changes" if the tree was not clean
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Go      string `json:"go"`
	Library string `json:"library"`
}

// directories are those of paths: where the library lay says nothing, and is nobody's business.
var directories = regexp.MustCompile(`/\S*/`)

// Setting reads the circumstances of this run; library is the native library's version line. What cannot be read is
// "unknown".
func Setting(library string) Circumstances {
	return Circumstances{
		Date:    time.Now().UTC().Format(time.DateOnly),
		Commit:  commit(),
		CPU:     cpu(),
		Cores:   runtime.NumCPU(),
		Go:      runtime.Version(),
		Library: directories.ReplaceAllString(library, ""),
	}
}

func commit() string {
	id, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	text := strings.TrimSpace(string(id))
	if changes, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); err != nil || len(changes) > 0 {
		text += "+changes"
	}
	return text
}

func cpu() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
