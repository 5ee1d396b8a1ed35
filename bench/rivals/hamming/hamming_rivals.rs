//! mih-rs and all-pairs-hamming by the protocol of bench/hamming_side.c.
//!
//!     hamming_rivals mih FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS BLOCKS
//!     hamming_rivals pairs FINGERPRINTS COUNT CHUNK_BITS
//!
//! BLOCKS 0: as many as mih-rs takes by itself.  CHUNK_BITS: 64 or 32, the chunks in which
//! all-pairs-hamming is given a fingerprint.

use std::io::Read;
use std::time::Instant;

const DISTANCE: usize = 3;
const SINGLES: usize = 20_000;
const ROUNDS: usize = 3;

fn read_words(path: &str, n: usize) -> Vec<u64> {
    let mut file = std::fs::File::open(path).expect("cannot open");
    let mut words = vec![0u64; n];
    let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), n * 8) };
    file.read_exact(bytes).expect("not so many words");
    words
}

/// Bytes of this process that are in memory.
fn resident() -> f64 {
    unsafe { libc::malloc_trim(0) };
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as f64
}

fn processor_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + 1e-9 * t.tv_nsec as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn mih(argument: &[String]) {
    let n: usize = argument[2].parse().unwrap();
    let n_queries: usize = argument[3].parse().unwrap();
    let blocks: usize = argument[5].parse().unwrap();
    let row = read_words(&argument[0], n);
    let query = read_words(&argument[1], n_queries);

    let before = resident();
    let start = processor_seconds();
    let codes = row.clone(); // which the index takes over
    let index = match blocks {
        0 => mih_rs::Index::new(codes),
        _ => mih_rs::Index::with_blocks(codes, blocks),
    }
    .expect("no index");
    let build = processor_seconds() - start;
    let grown = resident() - before;

    let mut searcher = index.range_searcher();
    let mut single: Vec<f64> = Vec::new();
    for &x in query.iter().take(SINGLES) {
        let start = Instant::now();
        std::hint::black_box(searcher.run(x, DISTANCE));
        single.push(start.elapsed().as_secs_f64());
    }
    let p50 = median(&mut single);
    let p99 = single[single.len() * 99 / 100];

    // One after the other, the answers kept as ours are.
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut took = [0.0; ROUNDS];
    for t in &mut took {
        found.clear();
        let start = processor_seconds();
        for (i, &x) in query.iter().enumerate() {
            found.extend(searcher.run(x, DISTANCE).iter().map(|&id| (i as u32, id)));
        }
        *t = processor_seconds() - start;
    }
    let seconds = median(&mut took);

    let mut answer = vec![0u64; 2 * n_queries];
    for &(i, id) in &found {
        let id = u64::from(id) + 1;
        answer[2 * i as usize] += 1;
        let sum = &mut answer[2 * i as usize + 1];
        *sum = sum.wrapping_add(id.wrapping_mul(id).wrapping_mul(id));
    }
    let bytes: Vec<u8> = answer.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&argument[4], bytes).expect("cannot write the answers");
    println!(
        "{{\"tool\":\"mih-rs\",\"count\":{n},\"design\":\"blocks\",\"tables\":{},\
         \"build_s\":{build:.3},\"inserts_per_s\":{:.0},\"bytes_each\":{:.2},\
         \"queries_per_s\":{:.0},\"p50_us\":{:.3},\"p99_us\":{:.3},\"found\":{}}}",
        index.num_blocks(),
        n as f64 / build,
        grown / n as f64,
        n_queries as f64 / seconds,
        p50 * 1e6,
        p99 * 1e6,
        found.len()
    );
}

/// Seconds of processor and clock, and the pairs.
fn join<T: all_pairs_hamming::sketch::Sketch>(
    chunks: usize,
    row: &[u64],
    part: impl Fn(u64, usize) -> T,
) -> (f64, f64, Vec<(usize, usize, f64)>) {
    let (wall, start) = (Instant::now(), processor_seconds());
    let mut joiner = all_pairs_hamming::ChunkedJoiner::<T>::new(chunks);
    for &x in row {
        joiner.add((0..chunks).map(|i| part(x, i))).expect("a sketch is too short");
    }
    let pairs = joiner.similar_pairs(DISTANCE as f64 / 64.0);
    (processor_seconds() - start, wall.elapsed().as_secs_f64(), pairs)
}

fn pairs(argument: &[String]) {
    let n: usize = argument[1].parse().unwrap();
    let row = read_words(&argument[0], n);
    let (cpu, wall, pairs) = match argument[2].as_str() {
        "64" => join::<u64>(1, &row, |x, _| x),
        "32" => join::<u32>(2, &row, |x, i| (x >> (32 * i)) as u32),
        _ => panic!("chunks of 64 or 32 bits"),
    };
    let sum = pairs.iter().fold(0u64, |sum, &(a, b, _)| {
        let (a, b) = (a.min(b) as u64 + 1, a.max(b) as u64 + 1);
        sum.wrapping_add(a.wrapping_mul(b).wrapping_mul(b))
    });
    println!(
        "{{\"tool\":\"all-pairs-hamming\",\"count\":{n},\"chunk_bits\":{},\"threads\":1,\
         \"seconds\":{wall:.3},\"cpu_s\":{cpu:.3},\"pairs\":{},\"pairs_sum\":{sum}}}",
        argument[2],
        pairs.len()
    );
}

fn main() {
    let argument: Vec<String> = std::env::args().skip(1).collect();
    match argument[0].as_str() {
        "mih" => mih(&argument[1..]),
        "pairs" => pairs(&argument[1..]),
        _ => panic!("mih or pairs"),
    }
}
