package store

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/tokenrouter/tokenrouter/models/catalogue"
)

// Source is a file to download.
type Source struct {
	Name   string // of the model in the catalogue, or else of the file
	From   string // as it was asked for: hf:OWNER/REPO/FILE or a URL
	URL    string
	File   string // its name in the store
	Token  string // for the URL's host; "": none
	Bytes  int64  // 0: not on record
	SHA256 string // "": not on record
}

// Hub is where hf:OWNER/REPO/FILE is looked for unless HF_ENDPOINT names another place.
const Hub = "https://huggingface.co"

const (
	scheme   = "hf:"
	maxParts = 1000
)

var (
	fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,200}\.gguf$`)
	numbered = regexp.MustCompile(`^(.+)-(\d{5})-of-(\d{5})\.gguf$`)
)

// Resolve says which files an argument means: a model or a pair of the catalogue, hf:OWNER/REPO/FILE with or without @REVISION
// behind REPO, or a URL. A part of a model in parts (-00001-of-00003) means all of them. getenv gives HF_ENDPOINT and HF_TOKEN.
func Resolve(arg string, getenv func(string) string) ([]Source, error) {
	switch {
	case strings.HasPrefix(arg, scheme), strings.HasPrefix(arg, "https://"), strings.HasPrefix(arg, "http://"):
		s, err := locate(arg, getenv)
		if err != nil {
			return nil, err
		}
		return parts(s)
	case strings.Contains(arg, "://"):
		return nil, fmt.Errorf("%q: URLs begin with https:// or http://", arg)
	case isFile(arg):
		return nil, fmt.Errorf("%s is a file on this machine: serve it by its path, it needs no download", arg)
	case strings.Count(arg, "/") >= 2 && strings.HasSuffix(arg, ".gguf"):
		return nil, fmt.Errorf("%q is no name of the catalogue; for a file on a hub write %s%s", arg, scheme, arg)
	}
	models, err := catalogue.LookUp(arg)
	if err != nil {
		return nil, fmt.Errorf("%w. A file that is not in it is named by its URL, or as %sOWNER/REPO/FILE.gguf", err, scheme)
	}
	var list []Source
	for _, m := range models {
		s, err := locate(m.Source, getenv)
		if err != nil {
			return nil, err
		}
		s.Name, s.Bytes, s.SHA256 = m.Name, m.Bytes, m.SHA256
		list = append(list, s)
	}
	return list, nil
}

// isFile reports whether an argument is the path of a file, and no name of the catalogue.
func isFile(arg string) bool {
	if _, err := catalogue.LookUp(arg); err == nil {
		return false
	}
	info, err := os.Stat(arg)
	return err == nil && info.Mode().IsRegular()
}

// locate finds the URL of one file.
func locate(from string, getenv func(string) string) (Source, error) {
	endpoint := strings.TrimRight(getenv("HF_ENDPOINT"), "/")
	if endpoint == "" {
		endpoint = Hub
	}
	hub, err := url.Parse(endpoint)
	if err != nil || hub.Host == "" || hub.Scheme != "https" && hub.Scheme != "http" {
		return Source{}, fmt.Errorf("HF_ENDPOINT: %q is not a URL such as %s", endpoint, Hub)
	}
	s := Source{From: from}
	at := hub
	if rest, ok := strings.CutPrefix(from, scheme); ok {
		owner, rest, _ := strings.Cut(rest, "/")
		repo, file, _ := strings.Cut(rest, "/")
		repo, revision, _ := strings.Cut(repo, "@")
		if owner == "" || repo == "" || file == "" || strings.Contains(file, "..") {
			return s, fmt.Errorf("%q is not %sOWNER/REPO/FILE.gguf", from, scheme)
		}
		if revision == "" {
			revision = "main"
		}
		at = hub.JoinPath(owner, repo, "resolve", revision, file)
	} else {
		if at, err = url.Parse(from); err != nil || at.Host == "" {
			return s, fmt.Errorf("%q is not a URL", from)
		}
		if at.User != nil {
			return s, fmt.Errorf("a URL with a user and a password in it would be kept beside the file: leave them out")
		}
		// The page that a hub shows for a file is one word away from the file.
		if at.Host == hub.Host {
			at.Path = strings.Replace(at.Path, "/blob/", "/resolve/", 1)
		}
	}
	if s.File = path.Base(at.Path); !fileName.MatchString(s.File) {
		return s, fmt.Errorf("%q does not end in the name of a GGUF file, such as model-q4_k_m.gguf", from)
	}
	if at.Host == hub.Host && at.Scheme == hub.Scheme {
		s.Token = getenv("HF_TOKEN")
	}
	s.URL, s.Name = at.String(), stem(s.File)
	return s, nil
}

// parts gives all files of a model of which s is one.
func parts(s Source) ([]Source, error) {
	m := numbered.FindStringSubmatch(s.File)
	if m == nil {
		return []Source{s}, nil
	}
	n, _ := strconv.Atoi(m[3]) // five digits
	if k, _ := strconv.Atoi(m[2]); n < 1 || n > maxParts || k < 1 || k > n {
		return nil, fmt.Errorf("%s: expected part 1 to N of at most %d", s.File, maxParts)
	}
	list := make([]Source, n)
	for i := range list {
		list[i] = s
		list[i].File = fmt.Sprintf("%s-%05d-of-%05d.gguf", m[1], i+1, n)
		list[i].From = replaceLast(s.From, s.File, list[i].File)
		list[i].URL = replaceLast(s.URL, s.File, list[i].File)
	}
	return list, nil
}

func replaceLast(text, old, now string) string {
	i := strings.LastIndex(text, old)
	if i < 0 {
		return text
	}
	return text[:i] + now + text[i+len(old):]
}

// stem is what a file is called without its ending and the number of its part.
func stem(file string) string {
	if m := numbered.FindStringSubmatch(file); m != nil {
		return m[1]
	}
	return strings.TrimSuffix(file, ".gguf")
}
