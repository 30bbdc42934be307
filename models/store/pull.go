package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/tokenrouter/tokenrouter/models/fetch"
	"github.com/tokenrouter/tokenrouter/models/gguf"
)

// Options configure Pull.
type Options struct {
	Fetcher fetch.Fetcher
	// Begin hears of each file before it is asked for; may be nil.
	Begin func(s Source, index, of int)
}

// Pulled is a file that is in the store now.
type Pulled struct {
	Source
	Result fetch.Result
	Path   string
}

// Pull downloads files into the store. Those that are there already are left alone, if they are what is asked for.
func (s *Store) Pull(ctx context.Context, sources []Source, o Options) ([]Pulled, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("models: %w; another directory is named by TOKENROUTER_MODELS", err)
	}
	if err := s.room(ctx, sources, &o.Fetcher); err != nil {
		return nil, err
	}
	var done []Pulled
	for i, from := range sources {
		if err := s.same(from); err != nil {
			return done, err
		}
		if o.Begin != nil {
			o.Begin(from, i, len(sources))
		}
		r := fetch.Request{
			URL: from.URL, To: s.path(from.File), Bytes: from.Bytes, SHA256: from.SHA256, Token: from.Token, Magic: "GGUF",
		}
		split := numbered.MatchString(from.File)
		if !split {
			r.Check = wellFormed
		}
		result, err := o.Fetcher.File(ctx, r)
		if err != nil {
			return done, fmt.Errorf("pull %s: %w", from.Name, err)
		}
		if !result.Present {
			if err := s.note(from, result); err != nil {
				return done, err
			}
		}
		done = append(done, Pulled{from, result, r.To})
		if split && (i+1 == len(sources) || sources[i+1].Name != from.Name) {
			first := done[len(done)-1]
			for _, p := range done {
				if p.Name == from.Name {
					first = p
					break
				}
			}
			if err := wellFormed(first.Path); err != nil {
				return done, fmt.Errorf("pull %s: the parts are here, but do not make a model: %w", from.Name, err)
			}
		}
	}
	return done, nil
}

// wellFormed reads the header of a GGUF file, which says how long the file must be.
func wellFormed(path string) error {
	_, err := gguf.Open(path)
	return err
}

// room says whether all files together will fit, as far as their sizes are known.
func (s *Store) room(ctx context.Context, sources []Source, f *fetch.Fetcher) error {
	if len(sources) < 2 {
		return nil // the download itself looks
	}
	var need int64
	for _, from := range sources {
		if _, err := os.Stat(s.path(from.File)); err == nil {
			continue
		}
		size := from.Bytes
		if size == 0 {
			size = f.Length(ctx, fetch.Request{URL: from.URL, Token: from.Token})
		}
		if part, err := os.Stat(s.path(from.File) + ".part"); err == nil {
			size -= part.Size()
		}
		need += max(size, 0)
	}
	return f.Room(s.Dir, need)
}

// same refuses a source whose file has the name of another one that is there.
func (s *Store) same(from Source) error {
	info, err := os.Stat(s.path(from.File))
	if err != nil {
		return nil
	}
	if r, ok := s.recordOf(from.File, info.Size()); ok && r.Source != from.From {
		return fmt.Errorf("%s is there already, but from %s: remove it with tokenrouter rm %s, or set TOKENROUTER_MODELS to another directory",
			s.path(from.File), r.Source, nameOf(from.File))
	}
	if from.Bytes > 0 && info.Size() != from.Bytes {
		return fmt.Errorf("%s is there already, but has %d bytes, expected %d: remove it with tokenrouter rm %s and pull again",
			s.path(from.File), info.Size(), from.Bytes, nameOf(from.File))
	}
	return nil
}

// note keeps what is known of a file that has come.
func (s *Store) note(from Source, r fetch.Result) error {
	text, err := json.Marshal(record{Source: from.From, Bytes: r.Bytes, SHA256: r.SHA256, Proof: r.Proof, Pulled: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	if err := os.WriteFile(s.recordPath(from.File), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}
