/* check_pairs.go - the pairs that neardup reports beside the true ones */
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
)

// A line of pairs says this of its two ids.
type evidence struct {
	resemblance   float64
	shared, union int
}

// The printed resemblance may be rounded to six digits.
const rounding = 0.5e-6 + 1e-12

func sameNumber(printed, true float64) bool { return math.Abs(printed-true) <= rounding }

func pairKey(a, b string) [2]string {
	if a > b {
		a, b = b, a
	}
	return [2]string{a, b}
}

// readPairs reads id, id, resemblance, shared, union; twice counts pairs that stand there again.
func readPairs(path string) (pairs map[[2]string]evidence, twice int, err error) {
	pairs = map[[2]string]evidence{}
	err = readTSV(path, 5, func(c []string) error {
		var e evidence
		var err error
		if e.resemblance, err = strconv.ParseFloat(c[2], 64); err != nil {
			return err
		}
		if e.shared, err = strconv.Atoi(c[3]); err != nil {
			return err
		}
		if e.union, err = strconv.Atoi(c[4]); err != nil {
			return err
		}
		key := pairKey(c[0], c[1])
		if _, have := pairs[key]; have {
			twice++
		}
		pairs[key] = e
		return nil
	})
	return pairs, twice, err
}

// share of found among all; 1 where there is nothing to find.
func share(found, all int) float64 {
	if all == 0 {
		return 1
	}
	return float64(found) / float64(all)
}

type pairsResult struct {
	True        int     `json:"true_pairs"`
	Reported    int     `json:"reported_pairs"`
	Found       int     `json:"found"`
	Recall      float64 `json:"recall"`
	LowTrue     int     `json:"true_pairs_80_85"`
	LowFound    int     `json:"found_80_85"`
	LowRecall   float64 `json:"recall_80_85"`
	OneTrue     int     `json:"true_pairs_one_shingle"`
	OneFound    int     `json:"found_one_shingle"`
	NotTrue     int     `json:"reported_not_true"`
	WrongNumber int     `json:"reported_with_wrong_numbers"`
	Twice       int     `json:"reported_twice"`
}

func checkPairs(truthPath, pairsPath string) (good bool, err error) {
	truth, _, err := readPairs(truthPath)
	if err != nil {
		return false, err
	}
	reported, twice, err := readPairs(pairsPath)
	if err != nil {
		return false, err
	}
	r := pairsResult{True: len(truth), Reported: len(reported), Twice: twice}
	for key, e := range truth {
		got, have := reported[key]
		low := e.resemblance < 0.85
		r.LowTrue += count(low)
		r.OneTrue += count(e.union == 1) // two texts of one shingle each: short or monotonous
		if !have {
			continue
		}
		r.Found++
		r.LowFound += count(low)
		r.OneFound += count(e.union == 1)
		exact := quotient(e.shared, e.union)
		if got.shared != e.shared || got.union != e.union || !sameNumber(got.resemblance, exact) {
			r.WrongNumber++
			complain(r.WrongNumber, "%q: %v instead of %v", key, got, e)
		}
	}
	for key := range reported {
		if _, have := truth[key]; !have {
			r.NotTrue++
			complain(r.NotTrue, "%q: reported, not true", key)
		}
	}
	r.Recall, r.LowRecall = share(r.Found, r.True), share(r.LowFound, r.LowTrue)
	fmt.Fprintf(os.Stderr, "pairs: %d of %d found (%.3f %%); below .85: %d of %d (%.3f %%); not true %d, wrong numbers %d, twice %d\n",
		r.Found, r.True, 100*r.Recall, r.LowFound, r.LowTrue, 100*r.LowRecall, r.NotTrue, r.WrongNumber, r.Twice)
	return r.NotTrue+r.WrongNumber+r.Twice == 0, json.NewEncoder(os.Stdout).Encode(r)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// complain names the first few of each kind.
func complain(n int, format string, args ...interface{}) {
	if n <= 5 {
		fmt.Fprintf(os.Stderr, "exactjoin: "+format+"\n", args...)
	}
}

// crossCheck: which share of the pairs >= t of an oracle with another notion of tokens (id, id,
// resemblance) is also among ours. Pairs near t differ rightly; a wrong join differs grossly.
func crossCheck(oraclePath, pairsPath, threshold string) (good bool, err error) {
	t, err := strconv.ParseFloat(threshold, 64)
	if err != nil {
		return false, err
	}
	pairs, _, err := readPairs(pairsPath)
	if err != nil {
		return false, err
	}
	all, both := 0, 0
	err = readTSV(oraclePath, 3, func(c []string) error {
		j, err := strconv.ParseFloat(c[2], 64)
		if err == nil && j >= t {
			all++
			_, have := pairs[pairKey(c[0], c[1])]
			both += count(have)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(os.Stderr, "cross-check: %d of %d (%.3f %%)\n", both, all, 100*share(both, all))
	return true, json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"oracle_pairs": all, "also_ours": both, "share": share(both, all)})
}
