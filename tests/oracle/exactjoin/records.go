/* records.go - documents of JSON Lines */
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

type document struct {
	id   string // a string's value, or a number as it is written; "file:line" where there is none
	text string
	line int
}

// readDocuments calls f for every record that has a text, and counts the others. Invalid UTF-8 and
// lone surrogates are U+FFFD, by encoding/json.
func readDocuments(path string, f func(d document, line []byte) error) (bad int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<20)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return bad, err
		}
		record := line
		if n == 1 {
			record = bytes.TrimPrefix(line, []byte("\xEF\xBB\xBF"))
		}
		if len(bytes.TrimSpace(record)) > 0 {
			d, wrong := parseDocument(record)
			if wrong != nil {
				bad++
				fmt.Fprintf(os.Stderr, "exactjoin: %s:%d: %v\n", path, n, wrong)
			} else {
				d.line = n
				if d.id == "" {
					d.id = fmt.Sprintf("%s:%d", path, n)
				}
				if failed := f(d, line); failed != nil {
					return bad, fmt.Errorf("%s:%d: %w", path, n, failed)
				}
			}
		}
		if err == io.EOF {
			return bad, nil
		}
	}
}

// parseDocument takes the first of equal keys, exactly spelt; a map would take the last, a struct
// any spelling.
func parseDocument(record []byte) (document, error) {
	var d document
	var haveID, haveText bool
	dec := json.NewDecoder(bytes.NewReader(record))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return d, errors.New("line is no JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return d, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return d, err
		}
		switch {
		case key == "id" && !haveID:
			haveID = true
			d.id = rawID(value)
		case key == "text" && !haveText:
			haveText = true
			if value[0] != '"' {
				return d, errors.New("text is no string")
			}
			if err := json.Unmarshal(value, &d.text); err != nil {
				return d, err
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return d, err
	}
	if !haveText {
		return d, errors.New("text is absent")
	}
	return d, nil
}

// rawID is a string's value or a scalar's own bytes, so that 17 and "17" are one id here.
func rawID(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

// unescapeTSV undoes the escapes of tab, newline and backslash.
var unescapeTSV = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
var escapeTSV = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// readTSV calls f with the unescaped columns of every line.
func readTSV(path string, columns int, f func(c []string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		c := strings.Split(lines.Text(), "\t")
		if len(c) != columns {
			return fmt.Errorf("%s:%d: %d columns instead of %d", path, n, len(c), columns)
		}
		for i := range c {
			c[i] = unescapeTSV.Replace(c[i])
		}
		if err := f(c); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return lines.Err()
}
