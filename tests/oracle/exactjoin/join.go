/* join.go - every pair of documents at or above a threshold, exactly */
package main

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"sort"
)

// ratio is a threshold p/q.
type ratio struct{ p, q uint64 }

// parseRatio reads "0.8" and "4/5" without rounding.
func parseRatio(s string) (ratio, error) {
	r, ok := new(big.Rat).SetString(s)
	if !ok || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		return ratio{}, fmt.Errorf("threshold %q is not above 0 and at most 1", s)
	}
	return ratio{r.Num().Uint64(), r.Denom().Uint64()}, nil
}

func (t ratio) reached(shared, union int) bool {
	return union > 0 && uint64(shared)*t.q >= t.p*uint64(union)
}

type pair struct{ a, b, shared, union int } // document numbers, a < b

// Two texts without tokens that are pairs have equal bytes: their resemblance is 1.
func (p pair) resemblance() float64 { return quotient(p.shared, p.union) }

func quotient(shared, union int) float64 {
	if union == 0 {
		return 1
	}
	return float64(shared) / float64(union)
}

// overlap merges two sorted sets.
func overlap(a, b []uint32) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n++
			i++
			j++
		}
	}
	return n
}

// join finds all pairs by prefixes (Chaudhuri et al. 2006; Bayardo et al. 2007): for J >= p/q two
// sets share at least ceil(p/q * n) shingles, n being the greater size, so that the first
// n - ceil(p/q * n) + 1 of each, in one order for all, have one in common.
func (c *corpus) join(t ratio) []pair {
	frequency := c.rank()
	order := make([]int, 0, len(c.sets))
	for i := range c.sets {
		if !c.isShort(i) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return len(c.sets[order[i]]) < len(c.sets[order[j]]) })
	lists := make([][]int32, len(frequency)) // by shingle: documents, of growing size
	met := make([]int32, len(c.sets))        // by document: the last that met it, + 1
	found := c.shortPairs()
	for _, x := range order {
		s := c.sets[x]
		n := uint64(len(s))
		least := (t.p*n + t.q - 1) / t.q // of the other's size, and of what is shared
		for _, v := range s[:n-least+1] {
			if frequency[v] == 1 {
				continue
			}
			list := lists[v]
			for len(list) > 0 && uint64(len(c.sets[list[0]])) < least {
				list = list[1:] // too small for this and all that follow
			}
			for _, y := range list {
				if met[y] == int32(x)+1 {
					continue
				}
				met[y] = int32(x) + 1
				if p := c.compare(x, int(y)); t.reached(p.shared, p.union) {
					found = append(found, p)
				}
			}
			lists[v] = append(list, int32(x))
		}
	}
	sort.Slice(found, func(i, j int) bool {
		return found[i].a < found[j].a || found[i].a == found[j].a && found[i].b < found[j].b
	})
	return found
}

// shortPairs are the documents of fewer tokens than a shingle that have equal bytes: too short to judge,
// they are near nothing else.
func (c *corpus) shortPairs() []pair {
	var found []pair
	same := map[[sha256.Size]byte][]int{}
	for i := range c.sets {
		if !c.isShort(i) {
			continue
		}
		sum := c.shortSum[i]
		for _, earlier := range same[sum] {
			found = append(found, pair{earlier, i, len(c.sets[i]), len(c.sets[i])})
		}
		same[sum] = append(same[sum], i)
	}
	return found
}

func (c *corpus) compare(x, y int) pair {
	if x > y {
		x, y = y, x
	}
	n := overlap(c.sets[x], c.sets[y])
	return pair{x, y, n, len(c.sets[x]) + len(c.sets[y]) - n}
}
