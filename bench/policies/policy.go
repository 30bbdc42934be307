package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokenrouter/tokenrouter/sched"
)

// Names of policies on the command line and in the result.
const (
	lazyName       = "lazy"
	largeFirstName = "eager-large-first"
	smallFirstName = "eager-small-first"
	stepSyncName   = "step-sync"
	modelSyncName  = "model-sync"
	largeAloneName = "large"
)

var defaultPolicies = []string{lazyName, largeFirstName, smallFirstName, stepSyncName, modelSyncName, largeAloneName}

// policy is one way to serve the requests.
type policy struct {
	name      string
	policy    sched.Policy
	order     sched.Order
	threshold int  // of the large model
	alone     bool // the large model writes everything
}

func parsePolicy(text string) (policy, error) {
	p := policy{name: text, policy: sched.Eager, threshold: 1}
	switch {
	case text == lazyName:
		p.policy, p.threshold = sched.Lazy, sched.AutoThreshold
	case strings.HasPrefix(text, lazyName+":"):
		b, err := strconv.Atoi(text[len(lazyName)+1:])
		if err != nil || b < 1 {
			return p, fmt.Errorf("%q: the threshold is no number of requests", text)
		}
		p.policy, p.threshold = sched.Lazy, b
	case text == largeFirstName:
		p.order = sched.LargeFirst
	case text == smallFirstName:
		p.order = sched.SmallFirst
	case text == stepSyncName:
		p.policy = sched.StepSync
	case text == modelSyncName:
		p.policy = sched.ModelSync
	case text == largeAloneName:
		p.alone = true
	default:
		return p, fmt.Errorf("%q is none of %s", text, strings.Join(defaultPolicies, ", "))
	}
	return p, nil
}

// learns reports whether the policy must have seen requests before it is what it is to be.
func (p *policy) learns() bool { return p.threshold == sched.AutoThreshold }
