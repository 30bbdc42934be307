package main

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// plot is a line chart.
type plot struct {
	title, x, y string
	series      []series
}

type series struct {
	name   string
	points [][2]float64
	dashed bool
}

// planPlot draws throughput over B for one number of requests, or over the number of requests.
func planPlot(list []forecast) plot {
	p := plot{y: "tokens/s"}
	if len(list) == 1 && len(list[0].Curve) > 1 {
		f := list[0]
		p.title, p.x = fmt.Sprintf("%d requests", f.Requests), "threshold B of the large model"
		curve := series{name: "lazy"}
		for _, at := range f.Curve {
			curve.points = append(curve.points, [2]float64{float64(at.Thresholds[1]), at.Throughput})
		}
		first, last := curve.points[0][0], curve.points[len(curve.points)-1][0]
		level := func(name string, y float64) series {
			return series{name, [][2]float64{{first, y}, {last, y}}, true}
		}
		p.series = []series{curve, level("eager", f.Eager.Throughput), level("large model alone", f.Alone)}
		return p
	}
	p.title, p.x = "throughput by load", "live requests"
	p.series = []series{{name: "lazy"}, {name: "eager"}, {name: "large model alone", dashed: true}}
	for _, f := range list {
		for i, y := range []float64{f.Best.Throughput, f.Eager.Throughput, f.Alone} {
			p.series[i].points = append(p.series[i].points, [2]float64{float64(f.Requests), y})
		}
	}
	return p
}

// Size of a plot and its margins, in pixels.
const (
	plotWidth, plotHeight  = 720.0, 420.0
	plotLeft, plotRight    = 70.0, 160.0
	plotTop, plotBottom    = 40.0, 50.0
	plotInnerW, plotInnerH = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

var plotColours = []string{"#1f6feb", "#d1242f", "#57606a"}

// render draws the plot as SVG.
func (p plot) render() []byte {
	low, high, top := math.Inf(1), math.Inf(-1), 0.0
	for _, s := range p.series {
		for _, at := range s.points {
			low, high, top = min(low, at[0]), max(high, at[0]), max(top, at[1])
		}
	}
	if high <= low {
		high = low + 1
	}
	step := niceStep(top / 5)
	top = step * math.Ceil(top/step)
	x := func(v float64) float64 { return plotLeft + plotInnerW*(v-low)/(high-low) }
	y := func(v float64) float64 { return plotTop + plotInnerH*(1-v/top) }

	var b bytes.Buffer
	f := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`, plotWidth, plotHeight)
	f(`<rect width="100%%" height="100%%" fill="white"/>`)
	f(`<text x="%g" y="22" font-size="15">%s</text>`, plotLeft, html.EscapeString(p.title))
	for v := 0.0; v <= top+step/2; v += step {
		f(`<path d="M%.1f %.1fh%g" stroke="#d0d7de"/><text x="%g" y="%.1f" text-anchor="end">%g</text>`, plotLeft, y(v), plotInnerW, plotLeft-8, y(v)+4, v)
	}
	across := niceStep((high - low) / 8)
	for v := across * math.Ceil(low/across); v <= high+1e-9; v += across {
		f(`<text x="%.1f" y="%g" text-anchor="middle">%g</text>`, x(v), plotHeight-plotBottom+18, v)
	}
	f(`<text x="%g" y="%g" text-anchor="middle">%s</text>`, plotLeft+plotInnerW/2, plotHeight-12, html.EscapeString(p.x))
	f(`<text x="16" y="%g" transform="rotate(-90 16 %g)" text-anchor="middle">%s</text>`, plotTop+plotInnerH/2, plotTop+plotInnerH/2, html.EscapeString(p.y))
	for i, s := range p.series {
		colour, dash := plotColours[i%len(plotColours)], ""
		if s.dashed {
			dash = ` stroke-dasharray="6 4"`
		}
		b.WriteString(`<polyline fill="none" stroke-width="2" stroke="` + colour + `"` + dash + ` points="`)
		for _, at := range s.points {
			fmt.Fprintf(&b, "%.1f,%.1f ", x(at[0]), y(at[1]))
		}
		f(`"/>`)
		at := plotTop + 10 + 20*float64(i)
		f(`<path d="M%g %gh20" stroke="%s" stroke-width="2"%s/><text x="%g" y="%g">%s</text>`,
			plotWidth-plotRight+10, at, colour, dash, plotWidth-plotRight+36, at+4, html.EscapeString(s.name))
	}
	f(`</svg>`)
	return b.Bytes()
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(x float64) float64 {
	if !(x > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if x <= m*power {
			return m * power
		}
	}
	return 10 * power
}
