/* ucd.go - the Unicode Character Database, read from the files of Debian's unicode-data */

// Go's own tables are of another version of Unicode, so none of them is used.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const maxRune = 0x10FFFF

// The kinds of code points.
const (
	isToken   = 1 << iota // general category L, M or N
	isIgnored             // Default_Ignorable_Code_Point
)

type ucd struct {
	class      []uint8 // by code point
	combining  []uint8 // canonical combining class
	decomposed map[rune][]rune
	folded     map[rune][]rune
	composed   map[[2]rune]rune
}

// fields calls f with the semicolon-separated fields of every line that holds data.
func fields(dir, name string, f func(fields []string) error) error {
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("%w (Debian: package unicode-data)", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 && strings.HasPrefix(line, "# ") && !strings.Contains(line, "15.0.0") {
			return fmt.Errorf("%s: %q is not of Unicode 15.0.0", file.Name(), line)
		}
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		parts := strings.Split(line, ";")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		if err := f(parts); err != nil {
			return fmt.Errorf("%s:%d: %w", file.Name(), n, err)
		}
	}
	return lines.Err()
}

func parseRune(s string) (rune, error) {
	v, err := strconv.ParseUint(s, 16, 32)
	if err == nil && v > maxRune {
		err = fmt.Errorf("%q is beyond U+10FFFF", s)
	}
	return rune(v), err
}

func parseRunes(s string) ([]rune, error) {
	var runes []rune
	for _, f := range strings.Fields(s) {
		r, err := parseRune(f)
		if err != nil {
			return nil, err
		}
		runes = append(runes, r)
	}
	return runes, nil
}

// parseRange reads "0041" and "0041..005A".
func parseRange(s string) (lo, hi rune, err error) {
	first, last, isRange := strings.Cut(s, "..")
	if lo, err = parseRune(first); err != nil || !isRange {
		return lo, lo, err
	}
	hi, err = parseRune(last)
	return lo, hi, err
}

func loadUCD(dir string) (*ucd, error) {
	u := &ucd{
		class:      make([]uint8, maxRune+1),
		combining:  make([]uint8, maxRune+1),
		decomposed: map[rune][]rune{},
		folded:     map[rune][]rune{},
		composed:   map[[2]rune]rune{},
	}
	canonical := map[rune][]rune{}
	direct := map[rune][]rune{}
	if err := u.loadCharacters(dir, canonical, direct); err != nil {
		return nil, err
	}
	if err := u.loadFolding(dir); err != nil {
		return nil, err
	}
	if err := u.loadIgnored(dir); err != nil {
		return nil, err
	}
	if err := u.loadCompositions(dir, canonical); err != nil {
		return nil, err
	}
	for r := range direct {
		u.decomposed[r] = expand(direct, r)
	}
	return u, nil
}

func (u *ucd) loadCharacters(dir string, canonical, direct map[rune][]rune) error {
	var first rune // of a range given by its two ends
	return fields(dir, "UnicodeData.txt", func(f []string) error {
		r, err := parseRune(f[0])
		if err != nil {
			return err
		}
		lo := r
		if strings.HasSuffix(f[1], ", First>") {
			first = r
		} else if strings.HasSuffix(f[1], ", Last>") {
			lo = first
		}
		combining, err := strconv.ParseUint(f[3], 10, 8)
		if err != nil {
			return err
		}
		for c := lo; c <= r; c++ {
			if strings.ContainsRune("LMN", rune(f[2][0])) {
				u.class[c] |= isToken
			}
			u.combining[c] = uint8(combining)
		}
		if f[5] == "" {
			return nil
		}
		tagged := strings.HasPrefix(f[5], "<")
		mapping := f[5][strings.IndexByte(f[5], '>')+1:]
		if direct[r], err = parseRunes(mapping); err == nil && !tagged {
			canonical[r] = direct[r]
		}
		return err
	})
}

// Full case folding: status C and F.
func (u *ucd) loadFolding(dir string) error {
	return fields(dir, "CaseFolding.txt", func(f []string) error {
		if f[1] != "C" && f[1] != "F" {
			return nil
		}
		r, err := parseRune(f[0])
		if err == nil {
			u.folded[r], err = parseRunes(f[2])
		}
		return err
	})
}

func (u *ucd) loadIgnored(dir string) error {
	return fields(dir, "DerivedCoreProperties.txt", func(f []string) error {
		if f[1] != "Default_Ignorable_Code_Point" {
			return nil
		}
		lo, hi, err := parseRange(f[0])
		for c := lo; err == nil && c <= hi; c++ {
			u.class[c] |= isIgnored
		}
		return err
	})
}

// Primary composites: canonical mappings to two code points, but for those that are excluded.
func (u *ucd) loadCompositions(dir string, canonical map[rune][]rune) error {
	excluded := map[rune]bool{}
	err := fields(dir, "CompositionExclusions.txt", func(f []string) error {
		lo, hi, err := parseRange(f[0])
		for c := lo; err == nil && c <= hi; c++ {
			excluded[c] = true
		}
		return err
	})
	for r, d := range canonical {
		// Singletons, and decompositions that begin with or are of a non-starter, never compose (UAX #15, 5).
		if len(d) == 2 && !excluded[r] && u.combining[r] == 0 && u.combining[d[0]] == 0 {
			u.composed[[2]rune{d[0], d[1]}] = r
		}
	}
	return err
}

// expand applies the mappings until nothing is left to map.
func expand(direct map[rune][]rune, r rune) []rune {
	d, ok := direct[r]
	if !ok {
		return []rune{r}
	}
	var all []rune
	for _, c := range d {
		all = append(all, expand(direct, c)...)
	}
	return all
}
