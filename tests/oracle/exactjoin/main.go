/* main.go - exactjoin: the truth that neardup is measured against */
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"
)

const usage = `usage: exactjoin [-ucd DIR] COMMAND
  tokens FILE                                 every document's tokens, as JSON Lines
  pairs FILE T W                              every pair at resemblance >= T by word W-shingles:
                                              id, id, resemblance, shared, union
  check-pairs TRUTH.tsv PAIRS.tsv             compare the pairs of neardup with these
  check-manifest [-survivors OUT] FILE MANIFEST CLUSTERS TRUTH.tsv T W
                                              compute every row of a manifest again
  random-texts SEED COUNT                     texts and their tokens, hexadecimal
  cross ORACLE.tsv PAIRS.tsv T                share of another oracle's pairs >= T that PAIRS has
Status: 0 nothing wrong, 1 something is, 2 usage or failure.`

func main() {
	ucdDir := flag.String("ucd", "/usr/share/unicode", "where the Unicode Character Database is")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, usage) }
	flag.Parse()
	args := flag.Args()
	if len(args) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	good, err := run(*ucdDir, args[0], args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "exactjoin: %v\n", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

func run(ucdDir, command string, args []string) (good bool, err error) {
	survivors := ""
	if command == "check-manifest" && len(args) > 1 && args[0] == "-survivors" {
		survivors, args = args[1], args[2:]
	}
	want := map[string]int{"tokens": 1, "pairs": 3, "check-pairs": 2, "check-manifest": 6, "cross": 3,
		"random-texts": 2}
	if n, known := want[command]; !known || n != len(args) {
		return false, fmt.Errorf("%q does not go with %d arguments\n%s", command, len(args), usage)
	}
	switch command {
	case "check-pairs":
		return checkPairs(args[0], args[1])
	case "cross":
		return crossCheck(args[0], args[1], args[2])
	}
	u, err := loadUCD(ucdDir)
	if err != nil {
		return false, err
	}
	switch command {
	case "tokens":
		return true, printTokens(u, args[0])
	case "random-texts":
		seed, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return false, err
		}
		count, err := strconv.Atoi(args[1])
		if err != nil {
			return false, err
		}
		return true, printRandomTexts(u, seed, count)
	case "pairs":
		return true, printPairs(u, args[0], args[1], args[2])
	}
	return checkManifest(u, manifestFiles{args[0], args[1], args[2], args[3], survivors}, args[4], args[5])
}

func parseWidth(s string) (int, error) {
	w, err := strconv.Atoi(s)
	if err != nil || w < 1 || w > 32 {
		return 0, fmt.Errorf("shingle width %q is not 1 to 32", s)
	}
	return w, nil
}

func printTokens(u *ucd, path string) error {
	out := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	_, err := readDocuments(path, func(d document, _ []byte) error {
		tokens := u.textTokens(d.text)
		if tokens == nil {
			tokens = []string{}
		}
		return enc.Encode(map[string]interface{}{"id": d.id, "tokens": tokens})
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func printPairs(u *ucd, path, threshold, width string) error {
	t, err := parseRatio(threshold)
	if err != nil {
		return err
	}
	w, err := parseWidth(width)
	if err != nil {
		return err
	}
	start := time.Now()
	c := newCorpus(u, w)
	bad, err := c.load(path)
	if err != nil {
		return err
	}
	read := time.Since(start)
	found := c.join(t)
	out := bufio.NewWriter(os.Stdout)
	for _, p := range found {
		fmt.Fprintf(out, "%s\t%s\t%.6f\t%d\t%d\n", escapeTSV.Replace(c.ids[p.a]), escapeTSV.Replace(c.ids[p.b]),
			p.resemblance(), p.shared, p.union)
	}
	total := 0
	for _, s := range c.sets {
		total += len(s)
	}
	fmt.Fprintf(os.Stderr, "exactjoin: %s: %d documents, %d bad, %d shingles, %d pairs; read in %.1f s, joined in %.1f s\n",
		path, len(c.ids), bad, total, len(found), read.Seconds(), (time.Since(start) - read).Seconds())
	return out.Flush()
}
