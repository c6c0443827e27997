// Command prometheus-engine runs queries and alerting rules over given series, with Prometheus's own engine and storage.
//
// It reads one JSON document on standard input and writes one on standard output; tests in Python are the caller. Times are seconds since
// the start of the case.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb"
)

type stretch struct {
	From  float64 `json:"fromS"`
	To    float64 `json:"toS"`
	Every float64 `json:"everyS"`
	Value float64 `json:"value"`
	PerS  float64 `json:"perS"`
}

type series struct {
	Labels    map[string]string `json:"labels"`
	Stretches []stretch         `json:"stretches"`
	// GoneAt marks the series as stale, as a scrape does that no longer has it.
	GoneAt *float64 `json:"goneAtS"`
}

type request struct {
	Rules    string   `json:"rules"`
	Queries  []string `json:"queries"`
	StartSec int64    `json:"startS"`
	EverySec float64  `json:"evaluateEveryS"`
	Cases    []struct {
		Name   string   `json:"name"`
		Series []series `json:"series"`
		EndSec float64  `json:"endS"`
	} `json:"cases"`
}

type sample struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

type alert struct {
	Alert       string            `json:"alert"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	FiredAfter  float64           `json:"firedAfterS"`
}

type answer struct {
	Name    string     `json:"name"`
	Results [][]sample `json:"results"`
	Fired   []alert    `json:"fired"`
}

func main() {
	log.SetFlags(0)
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		log.Fatal(err)
	}
	start := time.Unix(asked.StartSec, 0).UTC()
	parse := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse([]byte(asked.Rules), false, model.UTF8Validation, parse, slog.Default())
	if len(errs) > 0 {
		log.Fatal(errs)
	}
	for _, query := range asked.Queries {
		if _, err := parse.ParseExpr(query); err != nil {
			log.Fatalf("%s: %v", query, err)
		}
	}
	answers := []answer{}
	for _, one := range asked.Cases {
		folder, err := os.MkdirTemp("", "prometheus-engine-")
		if err != nil {
			log.Fatal(err)
		}
		db, err := stored(folder, one.Series, start)
		if err != nil {
			log.Fatalf("%s: %v", one.Name, err)
		}
		engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, Parser: parse})
		ask := rules.EngineQueryFunc(engine, db)
		end := start.Add(time.Duration(one.EndSec * float64(time.Second)))
		found := answer{Name: one.Name, Results: [][]sample{}, Fired: []alert{}}
		for _, query := range asked.Queries {
			vector, err := ask(context.Background(), query, end)
			if err != nil {
				log.Fatalf("%s: %s: %v", one.Name, query, err)
			}
			found.Results = append(found.Results, samples(vector))
		}
		for _, group := range groups.Groups {
			for _, rule := range group.Rules {
				fired, err := fires(rule, parse, ask, start, end, asked.EverySec)
				if err != nil {
					log.Fatalf("%s: %s: %v", one.Name, rule.Alert, err)
				}
				found.Fired = append(found.Fired, fired...)
			}
		}
		answers = append(answers, found)
		if err := errors.Join(db.Close(), os.RemoveAll(folder)); err != nil {
			log.Fatal(err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		log.Fatal(err)
	}
}

// stored puts the series into a storage of their own.
func stored(folder string, all []series, start time.Time) (*tsdb.DB, error) {
	options := tsdb.DefaultOptions()
	// One block holds all: series are written one after the other, each from its start.
	options.MinBlockDuration = int64(90 * 24 * time.Hour / time.Millisecond)
	options.MaxBlockDuration = options.MinBlockDuration
	options.RetentionDuration = 10 * options.MinBlockDuration
	db, err := tsdb.Open(folder, slog.New(slog.DiscardHandler), nil, options, nil)
	if err != nil {
		return nil, err
	}
	appender := db.Appender(context.Background())
	for _, one := range all {
		set := labels.FromMap(one.Labels)
		put := func(seconds, number float64) error {
			_, err := appender.Append(0, set, start.UnixMilli()+int64(seconds*1000), number)
			return err
		}
		for _, part := range one.Stretches {
			for at := part.From; at <= part.To; at += part.Every {
				if err := put(at, part.Value+(at-part.From)*part.PerS); err != nil {
					return nil, fmt.Errorf("%v: %w", one.Labels, err)
				}
			}
		}
		if one.GoneAt != nil {
			if err := put(*one.GoneAt, math.Float64frombits(value.StaleNaN)); err != nil {
				return nil, fmt.Errorf("%v: %w", one.Labels, err)
			}
		}
	}
	return db, appender.Commit()
}

func samples(vector promql.Vector) []sample {
	found := []sample{}
	for _, one := range vector {
		number := one.F
		if math.IsNaN(number) || math.IsInf(number, 0) {
			log.Fatalf("%v is %v", one.Metric, number)
		}
		found = append(found, sample{one.Metric.Map(), number})
	}
	return found
}

// fires evaluates an alerting rule from the start to the end, and gives each alert as it was when it first fired.
func fires(rule rulefmt.Rule, parse parser.Parser, ask rules.QueryFunc, start, end time.Time, everySec float64) ([]alert, error) {
	expression, err := parse.ParseExpr(rule.Expr)
	if err != nil {
		return nil, err
	}
	alerting := rules.NewAlertingRule(rule.Alert, expression, time.Duration(rule.For), time.Duration(rule.KeepFiringFor),
		labels.FromMap(rule.Labels), labels.FromMap(rule.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	found, seen := []alert{}, map[uint64]bool{}
	for at := start; !at.After(end); at = at.Add(time.Duration(everySec * float64(time.Second))) {
		if _, err := alerting.Eval(context.Background(), 0, at, ask, nil, 0); err != nil {
			return nil, err
		}
		for _, one := range alerting.ActiveAlerts() {
			if one.State == rules.StateFiring && !seen[one.Labels.Hash()] {
				seen[one.Labels.Hash()] = true
				found = append(found, alert{rule.Alert, one.Labels.Map(), one.Annotations.Map(), at.Sub(start).Seconds()})
			}
		}
	}
	return found, nil
}
