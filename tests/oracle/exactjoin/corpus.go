/* corpus.go - documents as sets of interned shingles */

// No hash stands for anything here: a token is a number given to its string, a shingle a node of a
// trie over these numbers, so that two shingles are equal only where all their tokens are.
package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sort"
)

type corpus struct {
	u         *ucd
	w         int
	tokenID   map[string]uint32
	wordCache map[string][]uint32
	node      map[uint64]uint32 // parent node and token -> node
	nodes     uint32

	index  map[string]int // id -> document
	ids    []string
	sets   [][]uint32 // sorted; ranked by rank()
	tokens []int      // number of tokens

	shortSum    map[int][32]byte // of documents shorter than a shingle: SHA-256 of the text
	wantDigests bool
	textSum     [][32]byte // SHA-256 of text and of tokens, to tell equal from unequal
	tokenSum    [][32]byte
}

func newCorpus(u *ucd, w int) *corpus {
	return &corpus{u: u, w: w, tokenID: map[string]uint32{}, wordCache: map[string][]uint32{},
		node: map[uint64]uint32{}, index: map[string]int{}, shortSum: map[int][32]byte{}}
}

func (c *corpus) intern(token string) uint32 {
	id, ok := c.tokenID[token]
	if !ok {
		id = uint32(len(c.tokenID))
		c.tokenID[token] = id
	}
	return id
}

// child of a node by a token; node 0 is the root.
func (c *corpus) child(node, token uint32) uint32 {
	key := uint64(node)<<32 | uint64(token)
	n, ok := c.node[key]
	if !ok {
		c.nodes++
		n = c.nodes
		c.node[key] = n
	}
	return n
}

const cachedWord = 64 // bytes; words of natural language are shorter

func (c *corpus) tokenise(text string) []uint32 {
	var out []uint32
	words(text, func(word string) {
		ids, ok := c.wordCache[word]
		if !ok {
			for _, t := range c.u.textTokens(word) {
				ids = append(ids, c.intern(t))
			}
			if len(word) <= cachedWord {
				c.wordCache[string([]byte(word))] = ids // a copy: the text is let go
			}
		}
		out = append(out, ids...)
	})
	return out
}

// shingles is the sorted set of nodes of all runs of w tokens, or of the one run shorter than that.
func (c *corpus) shingles(tokens []uint32) []uint32 {
	w := c.w
	if len(tokens) < w {
		w = len(tokens)
	}
	if w == 0 {
		return nil
	}
	set := make([]uint32, 0, len(tokens)-w+1)
	for i := 0; i+w <= len(tokens); i++ {
		n := uint32(0)
		for _, t := range tokens[i : i+w] {
			n = c.child(n, t)
		}
		set = append(set, n)
	}
	return sortedSet(set)
}

func sortedSet(s []uint32) []uint32 {
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	n := 0
	for i, v := range s {
		if i == 0 || v != s[n-1] {
			s[n] = v
			n++
		}
	}
	return append([]uint32(nil), s[:n]...)
}

func (c *corpus) add(d document) error {
	if _, twice := c.index[d.id]; twice {
		return fmt.Errorf("id %q stands twice", d.id)
	}
	c.index[d.id] = len(c.ids)
	c.ids = append(c.ids, d.id)
	tokens := c.tokenise(d.text)
	c.tokens = append(c.tokens, len(tokens))
	c.sets = append(c.sets, c.shingles(tokens))
	if len(tokens) < c.w {
		c.shortSum[len(c.ids)-1] = sha256.Sum256([]byte(d.text))
	}
	if c.wantDigests {
		bytes := make([]byte, 4*len(tokens))
		for i, t := range tokens {
			binary.LittleEndian.PutUint32(bytes[4*i:], t)
		}
		c.textSum = append(c.textSum, sha256.Sum256([]byte(d.text)))
		c.tokenSum = append(c.tokenSum, sha256.Sum256(bytes))
	}
	return nil
}

func (c *corpus) isShort(i int) bool { return c.tokens[i] < c.w }

// rank numbers the shingles anew, the rarest first, so that a set begins with its rarest. Returns
// in how many documents each stands.
func (c *corpus) rank() []uint32 {
	c.node, c.wordCache, c.tokenID = nil, nil, nil // no longer needed; the join wants the memory
	count := make([]uint32, c.nodes+1)
	for _, s := range c.sets {
		for _, v := range s {
			count[v]++
		}
	}
	order := make([]uint32, 0, len(count))
	for v := range count {
		if count[v] > 0 {
			order = append(order, uint32(v))
		}
	}
	sort.Slice(order, func(i, j int) bool {
		a, b := order[i], order[j]
		return count[a] < count[b] || count[a] == count[b] && a < b
	})
	rank := make([]uint32, len(count))
	frequency := make([]uint32, len(order))
	for r, v := range order {
		rank[v] = uint32(r)
		frequency[r] = count[v]
	}
	for _, s := range c.sets {
		for i, v := range s {
			s[i] = rank[v]
		}
		sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })
	}
	return frequency
}

// load reads a file of JSON Lines.
func (c *corpus) load(path string) (bad int, err error) {
	return readDocuments(path, func(d document, _ []byte) error { return c.add(d) })
}
