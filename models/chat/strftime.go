package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// strftimeNow is the function strftime_now of chat templates: the local time, written as Python's strftime writes it in the
// locale "C".
func (t *Template) strftimeNow(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.None(), fmt.Errorf("strftime_now: expected one string, a format such as \"%%d %%b %%Y\"")
	}
	text, err := strftime(args[0].AsString(), t.now())
	return jinja.NewString(text), err
}

// timeFormats are the directives that a layout of Go's package time expresses; "%-d" and the like leave out zeros.
var timeFormats = map[string]string{
	"a": "Mon", "A": "Monday", "b": "Jan", "h": "Jan", "B": "January", "d": "02", "e": "_2", "m": "01", "y": "06", "Y": "2006",
	"H": "15", "I": "03", "M": "04", "S": "05", "p": "PM", "j": "002", "z": "", "Z": "", "c": "Mon Jan _2 15:04:05 2006", "x": "01/02/06",
	"X": "15:04:05", "D": "01/02/06", "F": "2006-01-02", "T": "15:04:05", "R": "15:04", "n": "\n", "t": "\t", "%": "%",
	"-d": "2", "-m": "1", "-I": "3",
}

func strftime(format string, now time.Time) (string, error) {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		n := 1
		if strings.HasPrefix(format[i+1:], "-") {
			n = 2
		}
		if i+n >= len(format) {
			return "", fmt.Errorf("strftime_now: the format %q ends within a directive", format)
		}
		name := format[i+1 : i+1+n]
		i += n
		switch layout, ok := timeFormats[name]; {
		case ok:
			out.WriteString(now.Format(layout))
		case name == "f":
			fmt.Fprintf(&out, "%06d", now.Nanosecond()/1000)
		case name == "w":
			fmt.Fprintf(&out, "%d", now.Weekday())
		case name == "u":
			fmt.Fprintf(&out, "%d", (now.Weekday()+6)%7+1)
		case name == "-H":
			fmt.Fprintf(&out, "%d", now.Hour())
		case name == "-M":
			fmt.Fprintf(&out, "%d", now.Minute())
		case name == "-S":
			fmt.Fprintf(&out, "%d", now.Second())
		case name == "-j":
			fmt.Fprintf(&out, "%d", now.YearDay())
		default:
			return "", fmt.Errorf("strftime_now: the directive %%%s of the format %q is not supported", name, format)
		}
	}
	return out.String(), nil
}
